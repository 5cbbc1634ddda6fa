/**
 * Markdown of people, models and tools as blocks of HTML.
 *
 * A streaming text is parsed block by block: what stands before the last two blocks is remembered, because more text
 * can still change only those, and the last one alone where a blank line has ended the one before. A finished text is
 * parsed once as a whole, for reference links may stand anywhere.
 * HTML in the source is shown as the text that it is, and no image is fetched from anywhere.
 */
import { Marked, Renderer } from "marked";
import type { Token, Tokens, TokensList } from "marked";
import { formulas } from "./formulas.ts";
import { escapeHtml } from "./html.ts";
import { words } from "./language.ts";

/** `html` passes a gate of its own (`sanitise.ts`) before it is shown. */
export type Block =
  | { readonly kind: "html"; readonly raw: string; readonly html: string; readonly closed: boolean }
  | { readonly kind: "code"; readonly raw: string; readonly language: string; readonly text: string; readonly closed: boolean };

/** Lists, indented code, HTML and formulas may go on after a blank line. */
const GOES_ON = /^(?: {4}|\t| {0,3}(?:[-*+<$\\]|\d{1,9}[.)]))/;
const PLAIN_LINE = /(?:^|\n)\p{L}[^\n]*$/u;
const SAFE_LINK = /^(?:https?:|mailto:)/i;
const INLINE_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=]+$/i;
const LINE_BREAK_TAG = /^<br\s*\/?>$/i;
const CLOSING_FENCE = /\n[ \t]*(?:`{3,}|~{3,})[ \t]*$/;

const engine = new Marked({
  gfm: true,
  extensions: formulas,
  renderer: {
    html({ text }: Tokens.HTML | Tokens.Tag): string {
      return LINE_BREAK_TAG.test(text.trim()) ? "<br>" : escapeHtml(text);
    },
    link({ href, title, tokens }: Tokens.Link): string {
      const inner = this.parser.parseInline(tokens);
      return SAFE_LINK.test(href) ? anchor(href, title, inner) : inner;
    },
    image({ href, title, text }: Tokens.Image): string {
      const label = escapeHtml(text || words.value.common.image);
      if (INLINE_IMAGE.test(href)) return `<img src="${href}" alt="${label}">`;
      return SAFE_LINK.test(href) ? anchor(href, title, label, "remote-image") : label;
    },
    code({ text, lang }: Tokens.Code): string {
      const language = languageOf(lang);
      return (
        `<div class="code"><div class="code-head"><span>${escapeHtml(language || words.value.copy.plainText)}</span>` +
        `<button type="button" class="copy" data-copy="code">${escapeHtml(words.value.copy.copy)}</button></div>` +
        `<pre tabindex="0" role="group" aria-label="${escapeHtml(words.value.copy.code)}"><code data-language="${escapeHtml(language)}">${escapeHtml(text)}</code></pre></div>`
      );
    },
    checkbox({ checked }: Tokens.Checkbox): string {
      const label = checked ? words.value.copy.ticked : words.value.copy.notTicked;
      return `<input type="checkbox" disabled${checked ? " checked" : ""} aria-label="${escapeHtml(label)}"> `;
    },
    table(token: Tokens.Table): string {
      return `<div class="table" tabindex="0" role="group" aria-label="${escapeHtml(words.value.copy.table)}">${Renderer.prototype.table.call(this, token)}</div>`;
    },
  },
});

function anchor(href: string, title: string | null | undefined, inner: string, className = ""): string {
  const named = title ? ` title="${escapeHtml(title)}"` : "";
  const classed = className ? ` class="${className}"` : "";
  return `<a href="${escapeHtml(href)}"${named}${classed} target="_blank" rel="noopener noreferrer">${inner}</a>`;
}

function languageOf(info: string | undefined): string {
  return (info ?? "").trim().split(/\s+/)[0]?.toLowerCase() ?? "";
}

function normalise(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/^\n+/, "");
}

/** Blocks of a text that is complete. */
export function finishedBlocks(text: string): Block[] {
  return blocksFrom(engine.lexer(normalise(text)), true, []);
}

/** Blocks of a text that may still change, given those of the text before it. */
export function streamingBlocks(text: string, before: readonly Block[]): Block[] {
  const source = normalise(text);
  let kept = 0;
  let offset = 0;
  const open = isOver(before.at(-2)) ? 1 : 2;
  for (const block of before.slice(0, -open)) {
    if (!source.startsWith(block.raw, offset)) break;
    offset += block.raw.length;
    kept++;
  }
  const rest = source.slice(offset);
  const grown = kept === before.length - 1 ? paragraphFrom(rest, before[kept]) : undefined;
  return [...before.slice(0, kept), ...(grown === undefined ? blocksFrom(engine.lexer(rest), false, before.slice(kept)) : [grown])];
}

/** A paragraph whose last line goes on, where that began with a letter: nothing that makes it something else begins so. */
function paragraphFrom(raw: string, before: Block | undefined): Block | undefined {
  if (before?.kind !== "html" || !before.html.startsWith("<p>") || !raw.startsWith(before.raw)) return undefined;
  if (!PLAIN_LINE.test(before.raw) || raw.includes("\n", before.raw.length)) return undefined;
  return raw === before.raw ? before : { ...before, raw, html: `<p>${engine.parseInline(raw)}</p>\n` };
}

function isOver(block: Block | undefined): boolean {
  return block !== undefined && block.raw.endsWith("\n\n") && !GOES_ON.test(block.raw);
}

/** Takes the old block where nothing changed: it is made already, and whoever draws it can tell. */
function blocksFrom(tokens: TokensList, finished: boolean, before: readonly Block[]): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at] as Token;
    const closed = finished || at < tokens.length - 1;
    let raw = token.raw;
    // Blank lines belong to the block before them, so that the blocks' raw texts add up to the whole.
    while (tokens[++at]?.type === "space") raw += tokens[at]?.raw;
    if (token.type !== "space") blocks.push(blockFrom(token, raw, closed, before[blocks.length]));
  }
  return blocks;
}

function blockFrom(token: Token, raw: string, closed: boolean, before: Block | undefined): Block {
  const kind = isCode(token) ? "code" : "html";
  const complete = closed || (kind === "code" && CLOSING_FENCE.test(token.raw));
  if (before?.raw === raw && before.kind === kind && before.closed === complete) return before;
  if (isCode(token)) return { kind: "code", raw, language: languageOf(token.lang), text: token.text, closed: complete };
  return { kind: "html", raw, html: engine.parser([token]), closed: complete };
}

function isCode(token: Token): token is Tokens.Code {
  return token.type === "code";
}
