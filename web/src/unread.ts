/** How far the person has read, and how much came in after that. */
import { channelsInOrder, threadsOf } from "./directory.ts";
import { placeOf } from "./entries.ts";
import { laneKey, laneOf } from "./model.ts";
import type { Entry, LaneAddress, State } from "./model.ts";
import type { LaneStatus, Message, MessageStop } from "./protocol/frames.ts";

/** As the gateway tells it at the beginning. */
export function countsOf(lanes: readonly LaneStatus[]): Pick<State, "read" | "unread"> {
  return {
    read: Object.fromEntries(lanes.flatMap((lane) => (lane.read === undefined ? [] : [[laneKey(lane), lane.read]]))),
    unread: Object.fromEntries(lanes.flatMap((lane) => (lane.unread ? [[laneKey(lane), lane.unread]] : []))),
  };
}

/** Counts a message, judged by the state before it: what was complete already does not count again. */
export function afterMessage(state: State, frame: Message | MessageStop): State {
  const key = laneKey(frame);
  const { entries } = laneOf(state, frame);
  const known = entries[placeOf(entries, "message", frame.message_id)];
  const isNews = known === undefined || (known.kind === "message" && known.state === "live");
  if (!isNews || !speaks(frame.role, frame.kind) || frame.order <= (state.read[key] ?? 0)) return state;
  return { ...state, unread: { ...state.unread, [key]: (state.unread[key] ?? 0) + 1 } };
}

/** What is out of sight is not left to read. */
export function afterHiding(state: State, address: LaneAddress, id: string): State {
  const key = laneKey(address);
  const { entries } = laneOf(state, address);
  const hidden = entries[placeOf(entries, "message", id)];
  const count = state.unread[key] ?? 0;
  if (hidden === undefined || count === 0 || !isWord(hidden) || hidden.order <= (state.read[key] ?? 0)) return state;
  const { [key]: _, ...others } = state.unread;
  return { ...state, unread: count === 1 ? others : { ...others, [key]: count - 1 } };
}

/** Marks only go forward; `left` is how much comes after the mark. */
export function afterMark(state: State, address: LaneAddress, order: number, left: number): State {
  const key = laneKey(address);
  if (order <= (state.read[key] ?? 0)) return state;
  const { [key]: _, ...others } = state.unread;
  return { ...state, read: { ...state.read, [key]: order }, unread: left === 0 ? others : { ...others, [key]: left } };
}

/** With its end in view, a lane is read as it grows, up to an answer that is still being written. */
export function caughtUp(state: State): State {
  if (!state.watching) return state;
  const { entries } = laneOf(state, state.openLane);
  const live = entries.findIndex((entry) => entry.kind === "message" && entry.state === "live");
  const last = live < 0 ? entries.at(-1) : entries[live - 1];
  if (last === undefined || last.order <= (state.read[laneKey(state.openLane)] ?? 0)) return state;
  return afterMark(state, state.openLane, last.order, entries.filter((entry) => entry.order > last.order && isWord(entry)).length);
}

function isWord(entry: Entry): boolean {
  return entry.kind === "message" && entry.state !== "live" && speaks(entry.role, entry.shape);
}

function speaks(role: Message["role"], kind: Message["kind"]): boolean {
  return (kind ?? "final") === "final" && (role === "cron" || role === "assistant");
}

/** Of a channel with all threads under it. */
export function unreadUnder(state: Pick<State, "directory" | "unread">, chatId: string): number {
  const lanes = [{ chat_id: chatId }, ...threadsOf(state.directory, chatId)];
  return lanes.reduce((sum, lane) => sum + (state.unread[laneKey(lane)] ?? 0), 0);
}

export function unreadInAll(state: Pick<State, "directory" | "unread">): number {
  return channelsInOrder(state.directory).reduce((sum, channel) => sum + unreadUnder(state, channel.chat_id), 0);
}
