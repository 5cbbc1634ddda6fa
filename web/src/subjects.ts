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

/** The message that a row shows, if it shows one that is complete. */
export function subjectOf(row: Row): Subject | undefined {
  const past = row.past === true;
  switch (row.kind) {
    case "mine": {
      const { id, order, text, attachments } = row;
      const quote = id === undefined || order === undefined ? undefined : { message_id: id, order, role: "user" as const, text: excerptOf(text, attachments) };
      return { quote, text, attachments, mine: row, past };
    }
    case "said":
    case "answer":
    case "remark":
    case "notice":
    case "cron":
      return row.entry.state === "live" ? undefined : { quote: quoteOf(row.entry), text: row.entry.text, attachments: row.entry.attachments, mine: undefined, past };
    default:
      return undefined;
  }
}

export function quoteOf({ id, order, role, text, attachments, job, sender }: MessageEntry): Quote {
  const name = job ?? sender?.name;
  return { message_id: id, order, role, text: excerptOf(text, attachments), ...(name === undefined ? {} : { name }) };
}
