/**
 * Makes a part of the page what it should be and leaves alone what of it is right already: a text that grows keeps what
 * is selected in it, and only what changed is laid out anew.
 */

/** Gives `place` what `made` holds; of `made` nothing is left that could be used again. */
export function morph(place: Node, made: Node): void {
  let old = place.firstChild;
  for (let next = made.firstChild; next !== null; next = made.firstChild) {
    if (old === null) {
      place.appendChild(next);
      continue;
    }
    const following: ChildNode | null = old.nextSibling;
    if (!isAlike(old, next)) {
      place.replaceChild(next, old);
    } else {
      if (old instanceof Text) rewrite(old, next.nodeValue ?? "");
      else morph(old, next);
      next.remove();
    }
    old = following;
  }
  while (old !== null) {
    const following: ChildNode | null = old.nextSibling;
    old.remove();
    old = following;
  }
}

/** Gives an element nothing but this text. */
export function write(place: Element, text: string): void {
  const { firstChild, lastChild } = place;
  if (firstChild instanceof Text && firstChild === lastChild) rewrite(firstChild, text);
  else place.textContent = text;
}

function rewrite(node: Text, text: string): void {
  const { data } = node;
  let same = 0;
  while (same < data.length && data[same] === text[same]) same++;
  if (same < data.length || same < text.length) node.replaceData(same, data.length - same, text.slice(same));
}

/** Whether one can become the other by what it holds. */
function isAlike(old: ChildNode, next: ChildNode): boolean {
  if (!(old instanceof Element) || !(next instanceof Element)) return old.nodeType === next.nodeType;
  const { attributes } = next;
  return old.nodeName === next.nodeName && old.attributes.length === attributes.length && [...attributes].every(({ name, value }) => old.getAttribute(name) === value);
}
