/** The messages of a lane, as what is done with them needs to know them. */
import { excerptOf } from "./excerpts.ts";
import type { Attachment, MessageEntry, Quote } from "./model.ts";
import type { MineRow, Row } from "./rows.ts";

/** A message, as its menu needs to know it. */
export interface Subject {
  readonly quote: Quote | undefined;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly mine: MineRow | undefined;
  /** Whether it was taken back. */
  readonly past: boolean;
}

/** A row that shows a message. */
export type SpokenRow = Extract<Row, { kind: "mine" } | { entry: MessageEntry }>;

/** Whether a row shows a message, and one that is complete. */
export function isSpoken(row: Row): row is SpokenRow {
  if (row.kind === "mine") return true;
  return "entry" in row && row.entry.kind === "message" && row.entry.state !== "live";
}

export function subjectOf(row: SpokenRow): Subject {
  const past = row.past === true;
  if (row.kind === "mine") {
    const { id, order, text, attachments } = row;
    const quote = id === undefined || order === undefined ? undefined : { message_id: id, order, role: "user" as const, text: excerptOf(text, attachments) };
    return { quote, text, attachments, mine: row, past };
  }
  const { entry } = row;
  return { quote: quoteOf(entry), text: entry.text, attachments: entry.attachments, mine: undefined, past };
}

export function quoteOf({ id, order, role, text, attachments, job, sender }: MessageEntry): Quote {
  const name = job ?? sender?.name;
  return { message_id: id, order, role, text: excerptOf(text, attachments), ...(name === undefined ? {} : { name }) };
}
