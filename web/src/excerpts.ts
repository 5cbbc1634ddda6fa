/** How a text begins, short and without the marks of Markdown; as the gateway shortens what is quoted. */
import type { Attachment } from "./model.ts";

const LENGTH = 160;
const EMPHASIS = /[*`~]+/g;
const MARKS = /[_#>[\]|]+/g;

export function excerptOf(text: string, attachments: readonly Attachment[] = []): string {
  return opening(text) || opening(attachments.map((file) => file.name).join(" "));
}

function opening(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(EMPHASIS, "").replace(MARKS, " ").replace(/\s+/g, " ").trim());
  const line = lines.find((candidate) => candidate !== "") ?? "";
  const letters = [...line];
  return letters.length <= LENGTH ? line : `${letters.slice(0, LENGTH - 1).join("").trimEnd()}…`;
}
