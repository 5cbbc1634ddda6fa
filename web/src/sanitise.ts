/**
 * The last gate before a string becomes page content.
 *
 * The renderer in `markdown.ts` makes no tag that it does not mean; this holds even if it should be fooled one day. The
 * browser's own gate is there at once and fast; a browser that has none gets DOMPurify, with the same rules.
 */
/** Gives what of a string may become part of the page. */
export type Gate = (html: string) => DocumentFragment;

export const TAGS = [
  "a", "blockquote", "br", "button", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "input",
  "li", "ol", "p", "pre", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
];

export const PLAIN_ATTRIBUTES = [
  "align", "alt", "aria-label", "checked", "class", "data-copy", "data-formula", "data-language", "disabled", "rel", "role", "start", "tabindex", "target", "title",
  "type",
];

/** They name an address, which has to look like `SAFE_ADDRESS`. */
export const ADDRESSES = ["href", "src"];

export const SAFE_ADDRESS = /^(?:https?:|mailto:|data:image\/(?:png|jpeg|gif|webp);base64,)/i;

declare global {
  interface Element {
    setHTML(html: string, options: { readonly sanitizer: Sanitizer }): void;
  }
}

let loaded: Promise<Gate> | undefined;

export function loadGate(): Promise<Gate> {
  loaded ??= "Sanitizer" in globalThis && "setHTML" in Element.prototype ? Promise.resolve(ownGate()) : import("./purify.ts").then(({ purify }) => purify);
  loaded.catch(() => (loaded = undefined));
  return loaded;
}

function ownGate(): Gate {
  const sanitizer = new Sanitizer({ elements: TAGS, attributes: [...PLAIN_ATTRIBUTES, ...ADDRESSES], comments: false, dataAttributes: false });
  // Nothing runs in it, and nothing is fetched.
  const inert = document.implementation.createHTMLDocument("");
  return (html) => {
    const place = inert.createElement("div");
    place.setHTML(html, { sanitizer });
    for (const name of ADDRESSES) {
      for (const element of place.querySelectorAll(`[${name}]`)) if (!SAFE_ADDRESS.test(element.getAttribute(name) ?? "")) element.removeAttribute(name);
    }
    const passed = inert.createDocumentFragment();
    passed.append(...place.childNodes);
    return passed;
  };
}
