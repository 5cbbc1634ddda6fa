/** What a tool's text is: pictures, a difference, code or plain text, told by its form alone. */

export interface Picture {
  readonly src: string;
}

export interface Shown {
  readonly pictures: readonly Picture[];
  /** The text without the data of its pictures. */
  readonly text: string;
  readonly language: "" | "diff" | "json";
}

const PICTURE = /data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+/g;
const MOST_PICTURES = 12;
const LOOK_AT = 40;

export function shownOf(text: string): Shown {
  const pictures = [...new Set(text.match(PICTURE) ?? [])].slice(0, MOST_PICTURES).map((src) => ({ src }));
  const rest = text.replace(PICTURE, pictures.length > 0 ? "(picture)" : "");
  return { pictures, text: rest.trim() === "(picture)" ? "" : rest, language: isDiff(rest) ? "diff" : isJson(rest) ? "json" : "" };
}

/** Unified form: a hunk's head near the beginning, with lines that were taken out or put in under it. */
export function isDiff(text: string): boolean {
  const lines = text.split("\n", LOOK_AT);
  const hunk = lines.findIndex((line) => /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/.test(line));
  return hunk >= 0 && lines.slice(hunk + 1).some((line) => /^[+-]/.test(line));
}

function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text) && parsed(text) !== undefined;
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The change that a call asks for, in unified form, where its arguments say it: a text and what takes its place. */
export function changeIn(args: Readonly<Record<string, unknown>>): string | undefined {
  const { old_string: before, new_string: after, path, patch } = args;
  if (typeof patch === "string" && patch !== "") return patch;
  if (typeof before !== "string" || typeof after !== "string") return undefined;
  const lines = (text: string, mark: string): string[] => (text === "" ? [] : text.split("\n").map((line) => `${mark}${line}`));
  const head = typeof path === "string" ? [`--- ${path}`, `+++ ${path}`] : [];
  return [...head, ...lines(before, "-"), ...lines(after, "+")].join("\n");
}
