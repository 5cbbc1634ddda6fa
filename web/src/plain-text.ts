/** Markdown as a person would type the same without it: for what is copied into other programs. */
import { lexer } from "marked";
import type { Token, Tokens } from "marked";

export function plainText(markdown: string): string {
  return blocks(lexer(markdown)).trim();
}

function blocks(tokens: readonly Token[]): string {
  return tokens.map(block).filter((text) => text !== "").join("\n\n");
}

function block(token: Token): string {
  switch (token.type) {
    case "space":
    case "def":
      return "";
    case "code":
      return (token as Tokens.Code).text;
    case "hr":
      return "—";
    case "list":
      return list(token as Tokens.List);
    case "table":
      return table(token as Tokens.Table);
    case "blockquote":
      return blocks((token as Tokens.Blockquote).tokens);
    default:
      return "tokens" in token && token.tokens !== undefined ? inline(token.tokens) : token.raw.trim();
  }
}

function list({ items, ordered, start }: Tokens.List): string {
  return items.map((item, at) => {
    const mark = ordered ? `${Number(start || 1) + at}. ` : "• ";
    // What is under an item stands below its text, not below its mark.
    return mark + item.tokens.map(block).filter((text) => text !== "").join("\n").replaceAll("\n", `\n${" ".repeat(mark.length)}`);
  }).join("\n");
}

function table({ header, rows }: Tokens.Table): string {
  return [header, ...rows].map((cells) => cells.map((cell) => inline(cell.tokens)).join("\t")).join("\n");
}

function inline(tokens: readonly Token[]): string {
  return tokens.map((token) => {
    switch (token.type) {
      case "br":
        return "\n";
      case "link": {
        const { href, tokens: inner } = token as Tokens.Link;
        const text = inline(inner);
        return href === text || href === `mailto:${text}` ? text : `${text} (${href})`;
      }
      case "image":
        return (token as Tokens.Image).text;
      case "codespan":
      case "escape":
        return (token as Tokens.Codespan).text;
      default:
        return "tokens" in token && token.tokens !== undefined ? inline(token.tokens) : "text" in token ? (token.text as string) : token.raw;
    }
  }).join("");
}
