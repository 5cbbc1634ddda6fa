/** The gate of browsers that have none of their own. */
import DOMPurify from "dompurify";
import type { Config } from "dompurify";
import { ADDRESSES, PLAIN_ATTRIBUTES, SAFE_ADDRESS, TAGS } from "./sanitise.ts";
import type { Gate } from "./sanitise.ts";

const RULES: Config & { RETURN_DOM_FRAGMENT: true } = {
  ALLOWED_TAGS: TAGS,
  ALLOWED_ATTR: [...PLAIN_ATTRIBUTES, ...ADDRESSES],
  // Only what names an address has to look like one.
  ADD_URI_SAFE_ATTR: PLAIN_ATTRIBUTES,
  ALLOWED_URI_REGEXP: SAFE_ADDRESS,
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

const gate = DOMPurify(window);

// By itself it lets any data into a picture.
gate.addHook("uponSanitizeAttribute", (_, attribute) => {
  if (ADDRESSES.includes(attribute.attrName) && !SAFE_ADDRESS.test(attribute.attrValue)) attribute.keepAttr = false;
});

export const purify: Gate = (html) => gate.sanitize(html, RULES);
