/**
 * Finds formulas (TeX) in Markdown: `$$…$$` and `\[…\]` for one that stands by itself, `\(…\)` and `$…$` in a line.
 *
 * A dollar is money, or begins a variable of a shell, far more often than a formula; and a bracket behind a backslash
 * may be meant as that bracket. So what is between them has to look like a formula, or it stays as it was written.
 */
import type { TokenizerAndRendererExtension } from "marked";
import { escapeHtml } from "./html.ts";

export interface Formula {
  readonly tex: string;
  readonly display: boolean;
}

/** Characters of the longest formula; also bounds how far one that never ends is looked for. */
const LONGEST = 2_000;

/** The delimiters, what is between them, without an empty line, and what that must have: `\[1\]` is a note, `\[x\]` a tick. */
const FORMS: readonly { readonly opening: string; readonly whole: RegExp; readonly needs: RegExp; readonly display: boolean }[] = [
  { opening: "$$", whole: new RegExp(String.raw`^\$\$((?:(?!\$\$|\n[ \t]*\n)[^]){1,${LONGEST}})\$\$`), needs: /./, display: true },
  { opening: "\\[", whole: new RegExp(String.raw`^\\\[((?:(?!\\\]|\n[ \t]*\n)[^]){1,${LONGEST}})\\\]`), needs: /\\[a-zA-Z]|[=^_+<>]/, display: true },
  { opening: "\\(", whole: new RegExp(String.raw`^\\\(((?:(?!\\\)|\n[ \t]*\n)[^]){1,${LONGEST}})\\\)`), needs: /[a-zA-Z]/, display: false },
  { opening: "$", whole: new RegExp(String.raw`^\$((?![\s$])(?:\\[^\n]|[^$\\\n]){1,${LONGEST}})(?<!\s)\$(?!\d)`), needs: /./, display: false },
];

const COMMAND = /\\[a-zA-Z]+/;
/** What may stand as a word in a formula without a backslash. */
const FUNCTIONS = new Set(["sin", "cos", "tan", "log", "exp", "min", "max", "mod", "gcd", "lim", "det", "deg", "arg"]);
const SHORT_WORDS = new Set(["an", "as", "at", "by", "do", "if", "in", "is", "it", "no", "of", "on", "or", "so", "to", "up", "us", "vs"]);

/** The formula that a text begins with. */
export function formulaAt(text: string): (Formula & { readonly raw: string }) | undefined {
  for (const { opening, whole, needs, display } of FORMS) {
    if (!text.startsWith(opening)) continue;
    const found = whole.exec(text);
    const tex = found?.[1]?.trim();
    if (found === null || tex === undefined || !needs.test(tex) || !looksLikeFormula(tex)) return undefined;
    // `$HOME:$PATH`: behind the second dollar a name goes on.
    if (opening === "$" && /\w/.test(text[found[0].length] ?? "") && tex.length > 1 && !COMMAND.test(tex)) return undefined;
    return { raw: found[0], tex, display };
  }
  return undefined;
}

function looksLikeFormula(text: string): boolean {
  if (text === "" || text.includes("`")) return false;
  if (COMMAND.test(text)) return true;
  const bare = text.replace(/[_^](?:\{[^{}]*\}|[a-zA-Z0-9]+(?![a-zA-Z0-9_]*_))/g, "0");
  const words = bare.match(/\p{L}+/gu) ?? [];
  return !words.some(isProse) && /[\p{L}\d]/u.test(text);
}

function isProse(word: string): boolean {
  if (word.length > 2) return !FUNCTIONS.has(word);
  return SHORT_WORDS.has(word.toLowerCase()) || /[^\x00-\x7f\u0370-\u03ff]/.test(word);
}

/** Where the next formula could begin. */
function nextAt(text: string): number | undefined {
  const at = text.search(/\$|\\[([]/);
  return at < 0 ? undefined : at;
}

/** One whose delimiters have lines of their own, or are all of a paragraph. */
const block: TokenizerAndRendererExtension = {
  name: "formulaBlock",
  level: "block",
  start(text) {
    // The text begins within a line.
    const at = text.search(/\n {0,3}(?:\$\$|\\\[)/);
    return at < 0 ? undefined : at + 1;
  },
  tokenizer(text) {
    const indent = /^ {0,3}/.exec(text)?.[0] ?? "";
    const found = formulaAt(text.slice(indent.length));
    if (found?.display !== true) return undefined;
    const end = /^[ \t]*(?:\n+|$)/.exec(text.slice(indent.length + found.raw.length))?.[0];
    return end === undefined ? undefined : { ...found, type: "formulaBlock", source: found.raw, raw: indent + found.raw + end };
  },
  renderer: (token) => `<div class="formula" data-formula="display">${escapeHtml(String(token["source"]))}</div>`,
};

const inline: TokenizerAndRendererExtension = {
  name: "formula",
  level: "inline",
  start: nextAt,
  tokenizer(text) {
    const found = formulaAt(text);
    return found === undefined ? undefined : { ...found, type: "formula", source: found.raw };
  },
  renderer: (token) => `<span class="formula" data-formula="${token["display"] === true ? "display" : "inline"}">${escapeHtml(String(token["source"]))}</span>`,
};

export const formulas = [block, inline];
