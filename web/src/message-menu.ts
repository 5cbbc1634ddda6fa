/** What can be done with a message, as its menu offers it. */
import type { MineRow, Row } from "./rows.ts";
import type { Subject } from "./subjects.ts";

export type MessageDeed = "reply" | "edit" | "retry" | "copy" | "copyMarkdown" | "link" | "select" | "hide" | "discard";

/** Where the message stands. */
export interface Around {
  readonly isRoom: boolean;
  /** Of a lane where people do not write, but for answers to its reports. */
  readonly readOnly: boolean;
  readonly gone: boolean;
  /** What the person said last here, and may take back. */
  readonly last: MineRow | undefined;
  readonly busy: boolean;
  /** Whether it is held with a finger: then no other way leads to a part of its text. */
  readonly touch: boolean;
}

/** What the person said last in a lane, where that can be taken back: not in a room, and no command. */
export function lastWord(rows: readonly Row[]): MineRow | undefined {
  const row = rows.findLast((candidate) => candidate.kind === "mine");
  const isWord = row?.kind === "mine" && row.past === undefined && row.pending === undefined && row.id !== undefined;
  return isWord && !row.text.startsWith("/") ? row : undefined;
}

export function deedsFor(subject: Subject, { isRoom, readOnly, gone, last, busy, touch }: Around): readonly MessageDeed[] {
  const { quote, text, mine, past } = subject;
  const isLast = mine !== undefined && mine.id !== undefined && mine.id === last?.id;
  const writes = !isRoom && !gone && !past && (!readOnly || quote?.role === "cron");
  const isAnswer = mine === undefined && quote?.role === "assistant";
  const isLastAnswer = isAnswer && last?.order !== undefined && (quote?.order ?? 0) > last.order;
  const deeds: (MessageDeed | false)[] = [
    writes && quote !== undefined && "reply",
    writes && isLast && "edit",
    writes && (isLast || isLastAnswer) && !busy && "retry",
    text !== "" && "copy",
    text !== "" && mine === undefined && "copyMarkdown",
    touch && text !== "" && "select",
    quote !== undefined && "link",
    quote !== undefined && "hide",
    mine?.pending?.state === "failed" && "discard",
  ];
  return deeds.filter((deed) => deed !== false);
}
