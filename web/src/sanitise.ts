/**
 * The last gate before a string becomes page content.
 *
 * The renderer in `markdown.ts` makes no tag that it does not mean; this holds even if it should be fooled one day.
 */
import DOMPurify from "dompurify";

const PLAIN_ATTRIBUTES = [
  "align", "alt", "aria-label", "checked", "class", "data-copy", "data-formula", "data-language", "disabled", "rel", "role", "start", "tabindex", "target", "title",
  "type",
];

const ALLOWED = {
  ALLOWED_TAGS: [
    "a", "blockquote", "br", "button", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "input",
    "li", "ol", "p", "pre", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: [...PLAIN_ATTRIBUTES, "href", "src"],
  // Only what names an address has to look like one.
  ADD_URI_SAFE_ATTR: PLAIN_ATTRIBUTES,
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|data:image\/(?:png|jpeg|gif|webp);base64,)/i,
  ALLOW_DATA_ATTR: false,
};

export function sanitise(html: string): string {
  return DOMPurify.sanitize(html, ALLOWED);
}
