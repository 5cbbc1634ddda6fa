/**
 * What happens inside one lane.
 *
 * Every function takes a lane and gives the next one. Applying the same thing twice, or a history page and the live
 * events in any order, ends in the same lane: an entry keeps the place at which it was first seen, something that
 * ended never runs again, and a turn that ended leaves nothing open.
 */
import { comesBefore, placeOf, withEntryAt, withEntryIn } from "./entries.ts";
import type { Entry, Excerpt, Lane, MessageEntry, PagePlace, ToolEntry, Turn } from "./model.ts";
import type { Commentary, HistoryPage, Message, MessageStart, MessageStop, MessageUpdate, RequestClosed, RequestOpened, ToolCard, ToolEnd, ToolStart, TurnEnded, TurnStarted, TurnSummary } from "./protocol/frames.ts";
import { askEntry, withClosing } from "./questions.ts";

function sameValues(a: Entry, b: Entry): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Puts an entry in its place, or what is new about it into the one that is there. */
function place(lane: Lane, incoming: Entry): Lane {
  const known = placeOf(lane.entries, incoming.kind, incoming.id);
  const present = lane.entries[known];
  if (present === undefined) return { ...lane, entries: withEntryIn(lane.entries, settle(lane, incoming)) };
  const merged = merge(present, incoming);
  if (merged === present || sameValues(merged, present)) return lane;
  return { ...lane, entries: withEntryAt(lane.entries, known, merged) };
}

function merge(present: Entry, incoming: Entry): Entry {
  if (present.kind === "message" && incoming.kind === "message") {
    return incoming.state === "live" ? present : { ...incoming, order: present.order };
  }
  if (present.kind === "tool" && incoming.kind === "tool") {
    if (incoming.state === "running" && present.state !== "running") return present;
    return {
      ...incoming,
      order: present.order,
      preview: incoming.preview || present.preview,
      args: incoming.args ?? present.args,
      truncated: incoming.truncated || present.truncated,
      output: incoming.output || present.output,
    };
  }
  if (present.kind === "ask" && incoming.kind === "ask") return incoming.outcome === undefined ? present : incoming;
  return present;
}

/** Closes an entry that comes in open although its end is known already. */
function settle(lane: Lane, entry: Entry): Entry {
  if (entry.kind === "tool" && entry.state === "running") {
    const end = lane.earlyToolEnds[entry.id];
    if (end !== undefined) return withEnd(entry, end);
  }
  if (entry.kind === "ask") {
    const closing = lane.earlyClosings[entry.id];
    return closing === undefined || entry.outcome !== undefined ? entry : withClosing(entry, closing);
  }
  const over = entry.turnId !== undefined && lane.turns[entry.turnId]?.outcome !== undefined;
  return over ? close(entry) : entry;
}

function close(entry: Entry): Entry {
  if (entry.kind === "message") return entry.state === "live" ? { ...entry, state: "aborted", shape: "partial" } : entry;
  return entry.kind === "tool" && entry.state === "running" ? { ...entry, state: "cancelled" } : entry;
}

function withEnd(tool: ToolEntry, end: ToolEnd): ToolEntry {
  return { ...tool, state: end.state, duration: end.duration, output: end.output_preview ?? tool.output };
}

function messageEntry(frame: Message): MessageEntry {
  return {
    kind: "message",
    id: frame.message_id,
    order: frame.order,
    role: frame.role,
    sender: frame.sender,
    shape: frame.kind ?? "final",
    state: frame.state ?? "complete",
    text: frame.text,
    attachments: frame.attachments ?? [],
    reasoning: frame.reasoning ?? "",
    model: frame.model,
    tokens: frame.tokens,
    turnId: frame.turn_id,
    clientId: frame.client_id,
    quote: frame.quote,
    replaces: frame.replaces,
    job: frame.job?.name,
    ts: frame.ts,
  };
}

function toolEntry(frame: ToolStart | ToolCard): ToolEntry {
  const card = frame.type === "tool" ? frame : undefined;
  return {
    kind: "tool",
    id: frame.tool_call_id,
    order: frame.order,
    turnId: frame.turn_id,
    index: frame.index,
    name: frame.name,
    preview: frame.preview ?? "",
    args: frame.args,
    truncated: frame.truncated ?? false,
    state: card?.state ?? "running",
    duration: card?.duration,
    output: card?.output_preview ?? "",
    ts: frame.ts,
  };
}

export function wholeMessage(lane: Lane, frame: Message): Lane {
  return place(lane, messageEntry(frame));
}

/** The person has put it out of sight. */
export function hidden(lane: Lane, id: string): Lane {
  const { entries, excerpt } = lane;
  const left = (all: readonly Entry[]): readonly Entry[] => all.filter((entry) => entry.kind !== "message" || entry.id !== id);
  return { ...lane, entries: left(entries), excerpt: excerpt === undefined ? undefined : { ...excerpt, entries: left(excerpt.entries) } };
}

/** Back in its place, in each part of the lane that reaches so far: from elsewhere it comes with its page. */
export function shownAgain(lane: Lane, frame: Message): Lane {
  const entry = messageEntry(frame);
  const { excerpt } = lane;
  const isIn = (entries: readonly Entry[], open: boolean): boolean => open || (entries[0] !== undefined && !comesBefore(entry, entries[0]));
  const inEnd = lane.history === "loaded" && isIn(lane.entries, !lane.hasOlder) ? place(lane, entry) : lane;
  if (excerpt === undefined || !isIn(excerpt.entries, !excerpt.hasOlder) || comesBefore(excerpt.entries.at(-1) ?? entry, entry)) return inEnd;
  return { ...inEnd, excerpt: { ...excerpt, entries: place({ ...lane, entries: excerpt.entries }, entry).entries } };
}

export function commentary(lane: Lane, frame: Commentary): Lane {
  return place(lane, messageEntry({ ...frame, type: "message", role: "assistant", kind: "commentary" }));
}

export function bubbleStarted(lane: Lane, frame: MessageStart): Lane {
  if (lane.turns[frame.turn_id]?.outcome !== undefined) return lane;
  return place(lane, { ...messageEntry({ ...frame, type: "message", text: "" }), state: "live" });
}

export function bubbleUpdated(lane: Lane, update: MessageUpdate): Lane {
  const at = lane.entries.findLastIndex((entry) => entry.id === update.message_id);
  const entry = lane.entries[at];
  if (entry?.kind !== "message" || entry.state !== "live") return lane;
  // A piece that belongs to another text is left out: the next whole one, at the latest the end, puts it right.
  const text = update.text ?? (entry.text.length === update.offset ? entry.text + (update.append ?? "") : entry.text);
  if (text === entry.text) return lane;
  return { ...lane, entries: lane.entries.with(at, { ...entry, text }) };
}

export function bubbleStopped(lane: Lane, frame: MessageStop): Lane {
  const { final_text, ...rest } = frame;
  return place(lane, messageEntry({ ...rest, type: "message", text: final_text }));
}

export function toolStarted(lane: Lane, frame: ToolStart): Lane {
  return place(lane, toolEntry(frame));
}

export function toolEnded(lane: Lane, frame: ToolEnd): Lane {
  if (frame.state === "running") return lane;
  const ended = (entry: Entry): Entry => (entry.kind === "tool" && entry.id === frame.tool_call_id ? withEnd(entry, frame) : entry);
  if (lane.entries.some((entry) => entry.kind === "tool" && entry.id === frame.tool_call_id)) return inEntries(lane, ended);
  return { ...inEntries(lane, ended), earlyToolEnds: { ...lane.earlyToolEnds, [frame.tool_call_id]: frame } };
}

export function asked(lane: Lane, frame: RequestOpened): Lane {
  return { ...place(lane, askEntry(frame)), asked: [...lane.asked.filter(({ id }) => id !== frame.request_id), askEntry(frame)] };
}

export function askClosed(lane: Lane, frame: RequestClosed): Lane {
  const closed = (entry: Entry): Entry => (entry.kind === "ask" && entry.id === frame.request_id ? withClosing(entry, frame) : entry);
  const left = { ...inEntries(lane, closed), asked: lane.asked.filter(({ id }) => id !== frame.request_id) };
  if (lane.entries.some(({ id }) => id === frame.request_id)) return left;
  return { ...left, earlyClosings: { ...lane.earlyClosings, [frame.request_id]: frame } };
}

function inEntries(lane: Lane, change: (entry: Entry) => Entry): Lane {
  const { excerpt } = lane;
  return {
    ...lane,
    entries: lane.entries.map(change),
    excerpt: excerpt === undefined ? undefined : { ...excerpt, entries: excerpt.entries.map(change) },
  };
}

function turnOf(lane: Lane, id: string): Turn {
  return lane.turns[id] ?? { id, startedAt: undefined, endedAt: undefined, outcome: undefined, error: undefined, afterOrder: 0 };
}

export function turnStarted(lane: Lane, frame: TurnStarted): Lane {
  const turn = { ...turnOf(lane, frame.turn_id), startedAt: frame.ts };
  const turns = { ...lane.turns, [turn.id]: turn };
  return turn.outcome === undefined ? { ...lane, turns, runningTurn: turn.id, stopping: false } : { ...lane, turns };
}

export function turnEnded(lane: Lane, frame: TurnEnded): Lane {
  const turn: Turn = {
    ...turnOf(lane, frame.turn_id),
    endedAt: frame.ts,
    outcome: frame.outcome,
    error: frame.error,
    afterOrder: lane.entries.at(-1)?.order ?? 0,
  };
  const wasRunning = lane.runningTurn === turn.id || lane.runningTurn === undefined;
  return {
    ...inEntries(lane, (entry) => (entry.turnId === turn.id ? close(entry) : entry)),
    turns: { ...lane.turns, [turn.id]: turn },
    runningTurn: wasRunning ? undefined : lane.runningTurn,
    stopping: wasRunning ? false : lane.stopping,
    typingUntil: wasRunning ? 0 : lane.typingUntil,
  };
}

function entryIn(frame: HistoryPage["entries"][number]): Entry {
  switch (frame.type) {
    case "tool": return toolEntry(frame);
    case "request": return askEntry(frame);
    case "message": return messageEntry(frame);
  }
}

/** How the turns of a page ended; one that this device saw end is known better. */
function withTurns(lane: Lane, summaries: readonly TurnSummary[], entries: readonly Entry[]): Lane {
  const unknown = summaries.filter(({ turn_id }) => lane.turns[turn_id]?.outcome === undefined && lane.runningTurn !== turn_id);
  if (unknown.length === 0) return lane;
  const told = unknown.map((summary): [string, Turn] => [summary.turn_id, {
    id: summary.turn_id,
    startedAt: summary.started,
    endedAt: summary.ended,
    outcome: summary.outcome,
    error: summary.error,
    afterOrder: entries.findLast((entry) => entry.ts <= summary.ended)?.order ?? 0,
  }]);
  return { ...lane, turns: { ...lane.turns, ...Object.fromEntries(told) } };
}

export function historyArrived(lane: Lane, page: HistoryPage): Lane {
  const oldest = page.entries[0];
  const oldestKnown = lane.entries[0];
  const reachesBack = oldest === undefined || oldestKnown === undefined || oldest.order <= oldestKnown.order;
  const filled = page.entries.reduce(
    (soFar, entry) => place(soFar, entryIn(entry)),
    lane,
  );
  return joined({ ...withTurns(filled, page.turns ?? [], filled.entries), history: "loaded", hasOlder: reachesBack ? page.has_more : lane.hasOlder });
}

/** Around a place an excerpt begins anew, before and after one it grows. */
export function excerptAsked(lane: Lane, asked: PagePlace): Lane {
  if ("around" in asked) return { ...lane, excerpt: { entries: [], history: "loading", hasOlder: false, hasNewer: true, asked } };
  return lane.excerpt === undefined ? lane : { ...lane, excerpt: { ...lane.excerpt, history: "loading", asked } };
}

export function excerptFailed(lane: Lane, asked: PagePlace): Lane {
  return awaits(lane.excerpt, asked) ? { ...lane, excerpt: { ...lane.excerpt, history: "failed" } } : lane;
}

/** A page that is not waited for any more could not be joined without a gap, and is dropped. */
export function excerptArrived(lane: Lane, asked: PagePlace, page: HistoryPage): Lane {
  if (!awaits(lane.excerpt, asked)) return lane;
  const { entries, hasOlder, hasNewer } = lane.excerpt;
  const filled = page.entries.reduce((soFar, entry) => place(soFar, entryIn(entry)), { ...lane, entries });
  return joined({
    ...withTurns(lane, page.turns ?? [], filled.entries),
    excerpt: {
      entries: filled.entries,
      history: "loaded",
      hasOlder: "after" in asked ? hasOlder : page.has_more,
      hasNewer: "before" in asked ? hasNewer : (page.has_newer ?? false),
      asked,
    },
  });
}

function awaits(excerpt: Excerpt | undefined, asked: PagePlace): excerpt is Excerpt {
  return excerpt?.history === "loading" && JSON.stringify(excerpt.asked) === JSON.stringify(asked);
}

/** Makes one of the excerpt and the end of the lane as soon as nothing can be missing between them. */
function joined(lane: Lane): Lane {
  const { excerpt, entries } = lane;
  if (excerpt === undefined || (excerpt.entries.length === 0 && excerpt.hasNewer)) return lane;
  const [first, last] = [entries[0], excerpt.entries.at(-1)];
  // Without its last page, what is known of the end may itself have gaps.
  const meets = lane.history === "loaded" && first !== undefined && last !== undefined && !comesBefore(last, first);
  if (excerpt.hasNewer && !meets) return lane;
  const reachesFurther = first === undefined || excerpt.entries[0] === undefined || comesBefore(excerpt.entries[0], first);
  const whole = entries.reduce(place, { ...lane, entries: excerpt.entries });
  return {
    ...whole,
    excerpt: undefined,
    history: lane.history === "loading" ? "loading" : "loaded",
    hasOlder: reachesFurther ? excerpt.hasOlder : lane.hasOlder,
  };
}

/** Whether a place is among what is known of the end of a lane. */
export function endHolds(lane: Lane, order: number): boolean {
  const first = lane.entries[0];
  return lane.history === "loaded" && (!lane.hasOlder || (first !== undefined && first.order <= order));
}

/** A lane as it is shown: with its excerpt in place of its end. */
export function shownPart(lane: Lane): Lane {
  const { excerpt } = lane;
  return excerpt === undefined ? lane : { ...lane, entries: excerpt.entries, history: excerpt.history, hasOlder: excerpt.hasOlder };
}

/** Whether one lane became another only by words that were added to live messages; a first word is news. */
export function hasOnlyGrown(before: Lane, after: Lane): boolean {
  const grew = (entry: Entry, at: number): boolean => {
    const old = before.entries[at];
    if (old === entry) return true;
    if (old?.kind !== "message" || entry.kind !== "message" || entry.state !== "live") return false;
    return old.text !== "" && entry.text !== "" && isSameBut("text", old, entry);
  };
  return before.entries.length === after.entries.length && isSameBut("entries", before, after) && after.entries.every(grew);
}

function isSameBut<T extends object>(but: keyof T, before: T, after: T): boolean {
  return (Object.keys(after) as (keyof T)[]).every((name) => name === but || before[name] === after[name]);
}
