/** Frames as a gateway would send them, short to write down in a test. */
import { INITIAL_STATE, laneOf } from "../src/model.ts";
import type { Action, Channel, Entry, Lane, LocalAction, State } from "../src/model.ts";
import type { ChannelCreated, ChannelDeleted, ChannelRenamed, Commentary, HelloAck, HistoryPage, Message, MessageStart, MessageStop, ToolCard, ToolEnd, ToolStart, TurnEnded, TurnStarted } from "../src/protocol/frames.ts";
import { reduce } from "../src/state.ts";

export const LANE = "android:default";
export const NOW = 1_000_000;
const base = { chat_id: LANE, ts: 1000 } as const;

export const HOME: Channel = { chat_id: LANE, name: "Default", kind: "default", is_default: true, created: 1 };

export const channel = (number: number, more: Partial<Channel> = {}): Channel =>
  ({ chat_id: `android:chan_${number}`, name: `Channel ${number}`, kind: "channel", created: number, ...more });

export const thread = (number: number, parent: string, more: Partial<Channel> = {}): Channel =>
  ({ chat_id: parent, thread_id: `t_${number}`, name: `Thread ${number}`, kind: "thread", parent_chat_id: parent, created: number, ...more });

export const created = (entry: Channel, more: Partial<ChannelCreated> = {}): ChannelCreated =>
  ({ type: "channel.created", channel: entry, ...more });

export const renamed = (entry: Channel): ChannelRenamed => ({ type: "channel.renamed", channel: entry });

export const deleted = (entry: Channel): ChannelDeleted => ({ type: "channel.deleted", channel: { ...entry, archived: true } });

export function ack(more: Partial<HelloAck> = {}): HelloAck {
  return {
    type: "hello.ack",
    level: 1,
    server: { name: "iris", version: "0.1.0", host_version: "0.19.0" },
    epoch: "e1",
    seq: 0,
    mode: "reset",
    directory: [HOME],
    lanes: [],
    policy: { max_frame: 1_000_000, max_text: 20_000, max_history: 100, max_upload: 1_000_000 },
    features: [],
    ...more,
  };
}

export const said = (id: string, order: number, more: Partial<Message> = {}): Message =>
  ({ ...base, type: "message", message_id: id, role: "user", text: `text of ${id}`, order, ...more });

export const bubble = (id: string, order: number, turn = "t1"): MessageStart =>
  ({ ...base, type: "message.start", message_id: id, role: "assistant", turn_id: turn, order });

export const done = (id: string, order: number, text: string, more: Partial<MessageStop> = {}): MessageStop =>
  ({ ...base, type: "message.stop", message_id: id, role: "assistant", turn_id: "t1", final_text: text, kind: "final", state: "complete", order, ...more });

export const remark = (id: string, order: number, more: Partial<Commentary> = {}): Commentary =>
  ({ ...base, type: "commentary", message_id: id, turn_id: "t1", text: "I look first.", order, ...more });

export const turnStart = (id = "t1", more: Partial<TurnStarted> = {}): TurnStarted =>
  ({ ...base, type: "turn.started", turn_id: id, ...more });

export const turnEnd = (id = "t1", more: Partial<TurnEnded> = {}): TurnEnded =>
  ({ ...base, ts: 1012, type: "turn.ended", turn_id: id, outcome: "success", ...more });

export const toolStart = (id: string, order: number, more: Partial<ToolStart> = {}): ToolStart =>
  ({ ...base, type: "tool.start", turn_id: "t1", index: 1, tool_call_id: id, name: "terminal", order, args: { command: "ls" }, ...more });

export const toolEnd = (id: string, more: Partial<ToolEnd> = {}): ToolEnd =>
  ({ chat_id: LANE, type: "tool.end", turn_id: "t1", index: 1, tool_call_id: id, name: "terminal", ok: true, state: "ok", duration: 0.4, output_preview: "out", ...more });

export const toolCard = (id: string, order: number, more: Partial<ToolCard> = {}): ToolCard =>
  ({ ...base, type: "tool", turn_id: "t1", index: 1, tool_call_id: id, name: "terminal", order, args: { command: "ls" }, state: "ok", duration: 0.4, output_preview: "out", ...more });

export const page = (entries: HistoryPage["entries"], more: Partial<HistoryPage> = {}): HistoryPage =>
  ({ type: "history", client_id: "h", chat_id: LANE, entries, has_more: false, ...more });

export const queued = (id: string, more: Partial<Extract<LocalAction, { type: "local.queued" }>> = {}): Action =>
  ({ type: "local.queued", clientId: id, address: { chat_id: LANE }, text: "hello", attachments: [], autoThread: false, ...more });

export function play(actions: readonly Action[], from: State = INITIAL_STATE): State {
  return actions.reduce((state, action) => reduce(state, action, NOW), from);
}

export function lane(state: State): Lane {
  return laneOf(state, { chat_id: LANE });
}

export function entry(state: State, id: string): Entry {
  const found = lane(state).entries.find((candidate) => candidate.id === id);
  if (found === undefined) throw new Error(`no entry ${id}`);
  return found;
}

export function ids(state: State): string[] {
  return lane(state).entries.map((candidate) => candidate.id);
}
