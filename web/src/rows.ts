/** What stands in a lane, from top to bottom. */
import { foldsOf } from "./folds.ts";
import { laneKey } from "./model.ts";
import type { AskEntry, Attachment, Entry, Lane, LaneAddress, MessageEntry, Pending, Quote, Sender, ToolEntry, Turn } from "./model.ts";
import { goesOn } from "./room.ts";

/** What the person said, or is about to. */
export interface MineRow {
  readonly kind: "mine";
  readonly key: string;
  /** Once the gateway has it. */
  readonly id: string | undefined;
  readonly order: number | undefined;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly ts: number;
  readonly pending: Pending | undefined;
  readonly quote: Quote | undefined;
  /** Of a room that did not take it. */
  readonly refused: boolean;
}

export type Row = (
  | MineRow
  | { readonly kind: "said"; readonly key: string; readonly entry: MessageEntry; readonly sender: Sender; readonly first: boolean }
  | { readonly kind: "answer"; readonly key: string; readonly entry: MessageEntry }
  | { readonly kind: "remark"; readonly key: string; readonly entry: MessageEntry }
  | { readonly kind: "notice"; readonly key: string; readonly entry: MessageEntry }
  | { readonly kind: "cron"; readonly key: string; readonly entry: MessageEntry }
  | { readonly kind: "ask"; readonly key: string; readonly entry: AskEntry }
  | { readonly kind: "tools"; readonly key: string; readonly tools: readonly ToolEntry[] }
  | { readonly kind: "footer"; readonly key: string; readonly footer: Footer }
  | { readonly kind: "divider"; readonly key: string }
  /** `count` messages were taken back here, one after the other; `holds` are the rows of what they led to. */
  | { readonly kind: "fold"; readonly key: string; readonly count: number; readonly open: boolean; readonly holds: readonly string[] }
) & {
  /** Whether it was taken back. */
  readonly past?: true;
};

/** What is said of a turn once it is over. */
export interface Footer {
  readonly model: string | undefined;
  readonly tokens: number | undefined;
  /** Seconds that the turn took. */
  readonly took: number | undefined;
  readonly ts: number;
  readonly ending: "done" | "stopped" | "interrupted" | "failed";
  readonly error: string | undefined;
  /** What the person had said, where it makes sense to say it again. */
  readonly retry?: MineRow;
}

/** None of what was taken back is looked at. */
const NONE: ReadonlySet<string> = new Set();

/**
 * `newAfter` is the place behind which the lane was unread when it was opened; `unfolded` names the rows that hold what
 * was taken back and are open.
 */
export function rowsOf(lane: Lane, address: LaneAddress, outbox: readonly Pending[], newAfter?: number, unfolded = NONE): Row[] {
  const rows: Row[] = [];
  const folds = foldsOf(lane, address, outbox);
  const lastOfTurn = new Map<string, Entry>();
  const answers = new Map<string, MessageEntry>();
  for (const entry of lane.entries) {
    if (entry.turnId === undefined) continue;
    if (!isMine(entry)) lastOfTurn.set(entry.turnId, entry);
    if (entry.kind === "message" && entry.model !== undefined) answers.set(entry.turnId, entry);
  }
  const mute = Object.values(lane.turns).filter((turn) => endedBadly(turn) && !lastOfTurn.has(turn.id));
  const firstNew = newAfter === undefined ? undefined : firstAfter(lane, newAfter);
  for (const entry of lane.entries) {
    if (entry === firstNew) rows.push({ kind: "divider", key: "divider" });
    const heir = folds.get(entry);
    const fold = heir === undefined ? undefined : addToFold(rows, `fold-${heir}`, entry, unfolded);
    const before = rows.length;
    if (fold === false) continue;
    addEntry(rows, entry);
    if (isLastWord(entry, lastOfTurn)) addFooter(rows, lane, entry, answers);
    for (const turn of mute) if (turn.afterOrder === entry.order) rows.push(endOf(turn));
    if (fold === true) for (let at = before; at < rows.length; at++) rows[at] = { ...(rows[at] as Row), past: true };
  }
  const key = laneKey(address);
  for (const pending of outbox) if (laneKey(pending.address) === key) rows.push(pendingRow(pending));
  if (lane.runningTurn === undefined) offerRetry(rows);
  return rows;
}

/** Notes in the row of what was taken back that it holds this entry; whether that row is open. */
function addToFold(rows: Row[], key: string, entry: Entry, unfolded: ReadonlySet<string>): boolean {
  const known = rows.findLastIndex((row) => row.key === key);
  const fold = rows[known];
  const [count, holds] = fold?.kind === "fold" ? [fold.count, fold.holds] : [0, []];
  const open = unfolded.has(key);
  const held = entry.kind === "message" ? [keyOf(entry)] : [];
  const next: Row = { kind: "fold", key, count: count + (isMine(entry) ? 1 : 0), open, holds: [...holds, ...held] };
  if (known < 0) rows.push(next);
  else rows[known] = next;
  return open;
}

/** Only what was said last can be said again: the answer to anything before it would come in the wrong place. */
function offerRetry(rows: Row[]): void {
  const at = rows.findLastIndex(({ kind }) => kind === "footer" || kind === "mine");
  const end = rows[at];
  const said = rows.findLast((row) => row.kind === "mine");
  if (end?.kind !== "footer" || end.footer.ending === "done" || said?.kind !== "mine") return;
  if (end.past === undefined && said.past === undefined) rows[at] = { ...end, footer: { ...end.footer, retry: said } };
}

/** Nothing as long as what was read last is not here: something new may come before the first entry, too. */
function firstAfter(lane: Lane, place: number): Entry | undefined {
  const first = lane.entries[0];
  if (first === undefined || (lane.hasOlder && first.order > place)) return undefined;
  return lane.entries.find((entry) => entry.order > place && !isMine(entry));
}

/** The row of the message at a place of the lane. */
export function keyAt(lane: Lane, order: number): string | undefined {
  const entry = lane.entries.find((candidate) => candidate.kind === "message" && candidate.order === order);
  return entry?.kind === "message" ? keyOf(entry) : undefined;
}

function keyOf(entry: MessageEntry): string {
  return isMine(entry) ? (entry.clientId ?? entry.id) : entry.id;
}

/** Keeps the rows that stayed as they were, so that what draws them can tell. */
export function reuseRows(before: readonly Row[], after: readonly Row[]): Row[] {
  const known = new Map(before.map((row) => [row.key, row]));
  return after.map((row) => {
    const old = known.get(row.key);
    return old !== undefined && isEqual(old, row) ? old : row;
  });
}

/** By value; what is the same object is not looked into. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const [left, right] = [a, b] as [Record<string, unknown>, Record<string, unknown>];
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => isEqual(left[name], right[name]));
}

/** The text of the last message that the person wrote here. */
export function lastOwnText(lane: Lane, address: LaneAddress, outbox: readonly Pending[]): string | undefined {
  const key = laneKey(address);
  const unsent = outbox.findLast((pending) => laneKey(pending.address) === key);
  if (unsent !== undefined) return unsent.text;
  const entry = lane.entries.findLast((candidate) => isMine(candidate));
  return entry?.kind === "message" ? entry.text : undefined;
}

/** The model that wrote the last answer here. */
export function lastModel(lane: Lane): string | undefined {
  const entry = lane.entries.findLast((candidate) => candidate.kind === "message" && candidate.model !== undefined);
  return entry?.kind === "message" ? entry.model : undefined;
}

function isMine(entry: Entry): boolean {
  return entry.kind === "message" && entry.role === "user";
}

function addEntry(rows: Row[], entry: Entry): void {
  if (entry.kind === "tool") {
    const card = rows.at(-1);
    if (card?.kind === "tools" && card.tools[0]?.turnId === entry.turnId) {
      rows[rows.length - 1] = { ...card, tools: [...card.tools, entry] };
    } else {
      rows.push({ kind: "tools", key: entry.id, tools: [entry] });
    }
    return;
  }
  if (entry.kind === "ask") {
    rows.push({ kind: "ask", key: entry.id, entry });
    return;
  }
  if (entry.role === "user") {
    const { id, order, text, attachments, ts, quote } = entry;
    const refused = entry.state === "error";
    rows.push({ kind: "mine", key: keyOf(entry), id, order, text, attachments, ts, pending: undefined, quote, refused });
  } else if (entry.sender !== undefined && entry.role !== "notice") {
    const before = rows.at(-1);
    const first = before?.kind !== "said" || !goesOn(before.entry, entry);
    rows.push({ kind: "said", key: keyOf(entry), entry, sender: entry.sender, first });
  } else if (entry.text !== "" || entry.reasoning !== "" || entry.attachments.length > 0) {
    rows.push({ kind: kindOf(entry), key: keyOf(entry), entry });
  }
}

function kindOf(entry: MessageEntry): "answer" | "remark" | "notice" | "cron" {
  if (entry.role === "notice" || entry.role === "cron") return entry.role;
  return entry.shape === "commentary" ? "remark" : "answer";
}

function isLastWord(entry: Entry, lastOfTurn: ReadonlyMap<string, Entry>): boolean {
  if (isMine(entry)) return false;
  if (entry.turnId !== undefined) return lastOfTurn.get(entry.turnId) === entry;
  return entry.kind === "message" && entry.role === "assistant" && entry.shape !== "commentary";
}

function addFooter(rows: Row[], lane: Lane, last: Entry, answers: ReadonlyMap<string, MessageEntry>): void {
  const turn = last.turnId === undefined ? undefined : lane.turns[last.turnId];
  if (last.turnId !== undefined && last.turnId === lane.runningTurn) return;
  const told = last.turnId !== undefined ? answers.get(last.turnId) : last.kind === "message" ? last : undefined;
  const footer: Footer = {
    model: told?.model,
    tokens: told?.tokens,
    took: turn?.startedAt !== undefined && turn.endedAt !== undefined ? turn.endedAt - turn.startedAt : undefined,
    ts: last.ts,
    ending: endingOf(turn, last),
    error: turn?.error,
  };
  const silent = footer.model === undefined && footer.took === undefined && footer.ending === "done";
  if (!silent) rows.push({ kind: "footer", key: `footer-${last.turnId ?? last.id}`, footer });
}

function endingOf(turn: Turn | undefined, last: Entry): Footer["ending"] {
  if (turn?.outcome === "failure") return "failed";
  if (turn?.outcome === "cancelled") return "stopped";
  if (turn?.outcome === "interrupted") return "interrupted";
  if (last.kind === "tool") return turn === undefined && last.state === "cancelled" ? "stopped" : "done";
  if (last.kind === "ask") return "done";
  if (last.state === "error") return "failed";
  return last.state === "aborted" || last.shape === "partial" ? "stopped" : "done";
}

function endedBadly(turn: Turn): boolean {
  return turn.outcome !== undefined && turn.outcome !== "success";
}

function endOf(turn: Turn): Row {
  const took = turn.startedAt !== undefined && turn.endedAt !== undefined ? turn.endedAt - turn.startedAt : undefined;
  const footer: Footer = { model: undefined, tokens: undefined, took, ts: turn.endedAt ?? 0, ending: turn.outcome === "failure" ? "failed" : turn.outcome === "interrupted" ? "interrupted" : "stopped", error: turn.error };
  return { kind: "footer", key: `footer-${turn.id}`, footer };
}

function pendingRow(pending: Pending): Row {
  const { clientId, text, attachments, ts, quote } = pending;
  return { kind: "mine", key: clientId, id: undefined, order: undefined, text, attachments, ts, pending, quote, refused: false };
}
