/**
 * Draws the formulas of a finished text, by a library that is fetched when the first one comes.
 *
 * What the library makes passes a gate like all other HTML does; it is a gate of its own because the library sets styles
 * as properties, which the content security policy allows, and which no string could carry. What does not pass, cannot
 * be read as TeX or cannot be fetched stays as it was written.
 */
import { formulaAt } from "./formulas.ts";
import { words } from "./language.ts";

type Library = typeof import("./formula-library.ts");

/** How far a command may move or stretch something, across and down, in em. */
const FARTHEST: [number, number] = [40, 6];

const ELEMENTS = new Set([
  "math", "menclose", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom", "mprescripts", "mroot", "mrow", "mspace", "msqrt",
  "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover", "none", "span",
]);
const NEVER = /^(?:on|href|src|xlink|id$|data-)/i;
const MATHML = "http://www.w3.org/1998/Math/MathML";

/** What each drawn formula was written as. */
const sources = new WeakMap<Element, string>();
let library: Library | undefined;
let coming: Promise<Library> | undefined;

/** At once when the library is here, so that nothing jumps; else as soon as it is. */
export function drawFormulas(place: Element): void {
  const found = place.querySelectorAll<HTMLElement>("[data-formula]");
  if (found.length === 0) return;
  if (library !== undefined) return void found.forEach(draw);
  load().then(
    () => found.forEach(draw),
    (cause: unknown) => console.warn("Formulas stay as they were written.", cause),
  );
}

async function load(): Promise<Library> {
  coming ??= import("./formula-library.ts");
  try {
    library = await coming;
  } catch (cause) {
    coming = undefined;
    throw cause;
  }
  document.addEventListener("copy", copySources);
  return library;
}

function draw(place: HTMLElement): void {
  const source = place.textContent ?? "";
  const formula = formulaAt(source);
  if (library === undefined || formula === undefined || sources.has(place) || !place.isConnected) return;
  const drawn = document.createElement("div");
  try {
    library.render(formula.tex, drawn, { displayMode: formula.display, throwOnError: true, maxSize: FARTHEST, wrap: "tex" });
  } catch {
    return; // no TeX, or none that is known here
  }
  if (![...drawn.querySelectorAll("*")].every(isHarmless)) return;
  sources.set(place, source);
  place.replaceChildren(...drawn.childNodes);
  place.classList.add("drawn");
  if (!formula.display || place.scrollWidth <= place.clientWidth + 1) return;
  // Whoever has no pointer scrolls it by keys.
  place.tabIndex = 0;
  place.role = "group";
  place.ariaLabel = words.peek().copy.formula;
}

function isHarmless(element: Element): boolean {
  const isPlain = element.namespaceURI === MATHML || element.localName === "span";
  const named = [...element.attributes].every(({ name, value }) => !NEVER.test(name) && !/url\(/i.test(value));
  return isPlain && ELEMENTS.has(element.localName) && named;
}

/** A formula that is selected is copied as it was written. */
function copySources(event: ClipboardEvent): void {
  const selection = getSelection();
  if (selection === null || selection.isCollapsed || event.clipboardData === null || event.target instanceof HTMLTextAreaElement) return;
  const range = selection.getRangeAt(0).cloneRange();
  for (const [node, grow] of [[range.startContainer, "setStartBefore"], [range.endContainer, "setEndAfter"]] as const) {
    const whole = (node instanceof Element ? node : node.parentElement)?.closest(".formula.drawn");
    if (whole) range[grow](whole);
  }
  const root = range.commonAncestorContainer;
  const all = root instanceof Element ? [...root.querySelectorAll(".formula.drawn")].filter((formula) => range.intersectsNode(formula)) : [];
  if (all.length === 0) return;
  const copy = document.createElement("div");
  copy.className = "off-screen";
  copy.append(range.cloneContents());
  copy.querySelectorAll(".formula.drawn").forEach((formula, at) => {
    formula.textContent = sources.get(all[at] ?? formula) ?? "";
  });
  // Only what is laid out knows where its lines end.
  document.body.append(copy);
  event.clipboardData.setData("text/plain", copy.innerText);
  copy.remove();
  event.preventDefault();
}
