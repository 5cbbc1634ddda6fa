/** What the app knows, as plain values. Only the reducer makes new ones. */
import type { Attachment, Channel, CronJob, Device, DevicePaired, Failure, HelloAck, HistoryPage, Hit, Member, Message, Policy, Question, Quote, RequestClosed, RoomState, Sender, ServerFrame, ServerInfo, ToolCard, ToolEnd, TurnEnded } from "./protocol/frames.ts";

/** Seconds since 1970, as the server tells time. */
export type UnixTime = number;
/** Milliseconds since 1970, as this machine tells time. */
export type LocalTime = number;

/** Names a lane: a channel, or a thread under it. */
export type LaneKey = string;

export interface LaneAddress {
  readonly chat_id: string;
  readonly thread_id?: string;
}

export interface MessageEntry {
  readonly kind: "message";
  readonly id: string;
  readonly order: number;
  readonly role: Message["role"];
  /** Of a room: who said it. */
  readonly sender: Sender | undefined;
  readonly shape: NonNullable<Message["kind"]>;
  readonly state: "live" | NonNullable<Message["state"]>;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly reasoning: string;
  readonly model: string | undefined;
  readonly tokens: number | undefined;
  readonly turnId: string | undefined;
  readonly clientId: string | undefined;
  /** What it answers. */
  readonly quote: Quote | undefined;
  /** The message whose place it took. */
  readonly replaces: string | undefined;
  /** Of a report: what it is from. */
  readonly job: string | undefined;
  readonly ts: UnixTime;
}

export interface ToolEntry {
  readonly kind: "tool";
  readonly id: string;
  readonly order: number;
  readonly turnId: string;
  readonly index: number;
  readonly name: string;
  readonly preview: string;
  readonly args: Readonly<Record<string, unknown>> | undefined;
  readonly truncated: boolean;
  readonly state: ToolCard["state"];
  /** Seconds. */
  readonly duration: number | undefined;
  readonly output: string;
  readonly ts: UnixTime;
}

/** Something that the person is asked. */
export interface AskEntry {
  readonly kind: "ask";
  readonly id: string;
  readonly order: number;
  readonly turnId: string | undefined;
  readonly question: Question;
  /** Nothing while it is open. */
  readonly outcome: RequestClosed["outcome"] | undefined;
  /** The answer, as a person reads it. */
  readonly answer: string;
  /** The device that answered. */
  readonly by: string | undefined;
  readonly ts: UnixTime;
}

export type Entry = MessageEntry | ToolEntry | AskEntry;

export interface Turn {
  readonly id: string;
  readonly startedAt: UnixTime | undefined;
  readonly endedAt: UnixTime | undefined;
  readonly outcome: TurnEnded["outcome"] | undefined;
  readonly error: string | undefined;
  /** The last place in the lane when the turn ended: where its error is told if it left nothing else. */
  readonly afterOrder: number;
}

/** Which part of a lane is asked for. */
export type PagePlace = { readonly around: number } | { readonly before: number } | { readonly after: number };

/** An older part of a lane, shown in place of its end; nothing is missing between its own entries. */
export interface Excerpt {
  readonly entries: readonly Entry[];
  readonly history: "loading" | "loaded" | "failed";
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
  /** What was asked for last. */
  readonly asked: PagePlace;
}

export interface Lane {
  /** The end of the lane, sorted by `order`; an entry never moves. */
  readonly entries: readonly Entry[];
  readonly history: "unknown" | "loading" | "loaded" | "failed";
  readonly hasOlder: boolean;
  readonly excerpt: Excerpt | undefined;
  readonly runningTurn: string | undefined;
  readonly stopping: boolean;
  readonly turns: Readonly<Record<string, Turn>>;
  /** Ends of tools whose card is still on its way in a history page. */
  readonly earlyToolEnds: Readonly<Record<string, ToolEnd>>;
  /** What waits for an answer, oldest first; it may stand in a part of the lane that is not here. */
  readonly asked: readonly AskEntry[];
  /** How what was asked ended, for cards that are still on their way. */
  readonly earlyClosings: Readonly<Record<string, RequestClosed>>;
  readonly typingUntil: LocalTime;
}

/** Where the gateway wrote down a message: the event that echoes it. */
export interface Receipt {
  readonly epoch: string;
  readonly seq: number;
}

/** A message of this device that has no echo yet. */
export interface Pending {
  readonly clientId: string;
  /** The lane where it was written; when it turns out to have opened a thread, that one. */
  readonly address: LaneAddress;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly autoThread: boolean;
  /** What it answers. */
  readonly quote?: Quote | undefined;
  /** The message whose place it is to take. */
  readonly replaces?: string | undefined;
  readonly ts: UnixTime;
  readonly state: "pending" | "sent" | "failed";
  readonly messageId: string | undefined;
  readonly receipt: Receipt | undefined;
  readonly error: string | undefined;
  /** Of that error; a message that was kept by an earlier version has none. */
  readonly code?: Failure["code"];
  /** Whether another page of this browser wrote it, and sends it. */
  readonly elsewhere: boolean;
}

export interface State {
  readonly epoch: string | undefined;
  readonly seq: number;
  /** How far the log of the gateway went when this connection began: until then, what comes is what was missed. */
  readonly head: number;
  readonly server: ServerInfo | undefined;
  readonly policy: Policy | undefined;
  readonly directory: readonly Channel[];
  readonly openLane: LaneAddress;
  readonly lanes: Readonly<Record<LaneKey, Lane>>;
  /** How far the person has read, on whichever device. */
  readonly read: Readonly<Record<LaneKey, number>>;
  /** How many answers and reports came after that; without an entry, none. */
  readonly unread: Readonly<Record<LaneKey, number>>;
  /** How each room stands, by its `chat_id`; told anew with every connection. */
  readonly rooms: Readonly<Record<string, RoomState>>;
  /** The device that was let in last, while this page looked on. */
  readonly paired: DevicePaired | undefined;
  /** Whether the person has the end of the open lane in view. */
  readonly watching: boolean;
  /** How far the open lane was read when it was opened; nothing where there was nothing new. */
  readonly newAfter: number | undefined;
  /** In the order in which they were written. */
  readonly outbox: readonly Pending[];
}

export type LocalAction =
  | {
    readonly type: "local.queued";
    readonly clientId: string;
    readonly address: LaneAddress;
    readonly text: string;
    readonly attachments: readonly Attachment[];
    readonly autoThread: boolean;
    readonly quote?: Quote | undefined;
    readonly replaces?: string | undefined;
  }
  | { readonly type: "local.retried"; readonly clientId: string }
  | { readonly type: "local.discarded"; readonly clientId: string }
  | { readonly type: "local.outboxShared"; readonly rows: readonly Pending[] }
  | { readonly type: "local.historyAsked"; readonly address: LaneAddress }
  | { readonly type: "local.historyFailed"; readonly address: LaneAddress }
  | { readonly type: "local.excerptAsked"; readonly address: LaneAddress; readonly place: PagePlace }
  | { readonly type: "local.excerptArrived"; readonly address: LaneAddress; readonly place: PagePlace; readonly page: HistoryPage }
  | { readonly type: "local.excerptFailed"; readonly address: LaneAddress; readonly place: PagePlace }
  | { readonly type: "local.excerptClosed"; readonly address: LaneAddress }
  | { readonly type: "local.watching"; readonly on: boolean }
  | { readonly type: "local.stopAsked"; readonly address: LaneAddress }
  | { readonly type: "local.stopFailed"; readonly address: LaneAddress }
  | { readonly type: "local.laneOpened"; readonly address: LaneAddress }
  | { readonly type: "local.forgotten" };

export type Action = ServerFrame | LocalAction;
export type { Attachment, Channel, CronJob, Device, HelloAck, Hit, Member, Policy, Quote, RoomState, Sender };

export const DEFAULT_LANE: LaneAddress = { chat_id: "android:default" };

export function laneKey(address: LaneAddress): LaneKey {
  return address.thread_id === undefined ? address.chat_id : `${address.chat_id}/${address.thread_id}`;
}

export function sameLane(a: LaneAddress, b: LaneAddress): boolean {
  return a.chat_id === b.chat_id && a.thread_id === b.thread_id;
}

/** Only the address of something that has one. */
export function addressOf(place: LaneAddress): LaneAddress {
  return place.thread_id === undefined
    ? { chat_id: place.chat_id }
    : { chat_id: place.chat_id, thread_id: place.thread_id };
}

export const EMPTY_LANE: Lane = {
  entries: [],
  history: "unknown",
  hasOlder: false,
  excerpt: undefined,
  runningTurn: undefined,
  stopping: false,
  turns: {},
  earlyToolEnds: {},
  asked: [],
  earlyClosings: {},
  typingUntil: 0,
};

export const INITIAL_STATE: State = {
  epoch: undefined,
  seq: 0,
  head: 0,
  server: undefined,
  policy: undefined,
  directory: [],
  openLane: DEFAULT_LANE,
  lanes: {},
  read: {},
  unread: {},
  rooms: {},
  paired: undefined,
  watching: false,
  newAfter: undefined,
  outbox: [],
};

export function laneOf(state: State, address: LaneAddress): Lane {
  return state.lanes[laneKey(address)] ?? EMPTY_LANE;
}

/** Whether the agent works in a lane. */
export function isBusy(lane: Lane, now: LocalTime): boolean {
  return lane.runningTurn !== undefined || lane.typingUntil > now;
}
