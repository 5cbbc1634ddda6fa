/**
 * The reducer: (state, frame or local action) → state. Pure; the clock is an argument.
 *
 * A numbered event is applied once and only in its turn: what was seen before is ignored, and an event behind a gap is
 * not applied, because the connection then resumes from `seq` and brings it again.
 */
import { entryOf, isGone, nearestTo, openAfter, withEntry } from "./directory.ts";
import * as lanes from "./lane.ts";
import { addressOf, EMPTY_LANE, INITIAL_STATE, laneKey, laneOf, sameLane } from "./model.ts";
import type { Action, Channel, HelloAck, Lane, LaneAddress, LocalTime, Pending, State } from "./model.ts";
import type { ChannelCreated, Failure, Message, MessageAccepted, MessageUpdate } from "./protocol/frames.ts";
import { withAsked } from "./questions.ts";
import { afterHiding, afterMark, afterMessage, caughtUp, countsOf } from "./unread.ts";

const DEFAULT_TYPING_SECONDS = 10;

export type Standing = "next" | "seen" | "gap";

/** How a frame stands to what was read so far. What has no number is always next. */
export function standing(state: State, frame: Action): Standing {
  const seq = isNumbered(frame) ? frame.seq : undefined;
  if (seq === undefined) return "next";
  if (seq <= state.seq) return "seen";
  return seq === state.seq + 1 ? "next" : "gap";
}

function isNumbered(frame: Action): frame is Action & { seq: number } {
  // The `seq` of these two names another event's number, not their own.
  return "seq" in frame && typeof frame.seq === "number" && frame.type !== "hello.ack" && frame.type !== "message.accepted";
}

export function reduce(state: State, action: Action, now: LocalTime): State {
  if (standing(state, action) !== "next") return state;
  const current = isNumbered(action) ? { ...state, seq: action.seq } : state;
  return caughtUp(apply(current, action, now));
}

function apply(state: State, action: Action, now: LocalTime): State {
  switch (action.type) {
    case "hello.ack":
      return welcomed(state, action);
    case "message":
      return withMessage(state, action);
    case "message.hidden":
      return inLane(afterHiding(state, action, action.message_id), action, (lane) => lanes.hidden(lane, action.message_id));
    case "message.shown":
      return inLane(afterMessage(state, action.message), action.message, (lane) => lanes.shownAgain(lane, action.message));
    case "message.start":
      return inLane(state, action, (lane) => lanes.bubbleStarted(lane, action));
    case "message.update":
      return updated(state, action);
    case "message.stop":
      return inLane(afterMessage(state, action), action, (lane) => lanes.bubbleStopped(lane, action));
    case "commentary":
      return inLane(state, action, (lane) => lanes.commentary(lane, action));
    case "turn.started":
      return inLane(state, action, (lane) => lanes.turnStarted(lane, action));
    case "turn.ended":
      return inLane(state, action, (lane) => lanes.turnEnded(lane, action));
    case "tool.start":
      return inLane(state, action, (lane) => lanes.toolStarted(lane, action));
    case "tool.end":
      return inLane(state, action, (lane) => lanes.toolEnded(lane, action));
    case "request.opened":
      return inLane(state, action, (lane) => lanes.asked(lane, action));
    case "request.closed":
      return inLane(state, action, (lane) => lanes.askClosed(lane, action));
    case "typing": {
      const until = action.on ? now + (action.ttl ?? DEFAULT_TYPING_SECONDS) * 1000 : 0;
      return inLane(state, action, (lane) => ({ ...lane, typingUntil: until }));
    }
    case "room.state":
      return { ...state, rooms: { ...state.rooms, [action.chat_id]: action } };
    case "device.paired":
      return { ...state, paired: action };
    case "read.marked":
      return afterMark(state, action, action.order, action.unread);
    case "history":
      return retire(inLane(state, action, (lane) => lanes.historyArrived(lane, action)));
    case "message.accepted":
      return accepted(state, action);
    case "channel.created":
      return created(state, action);
    case "channel.renamed":
      return listed(state, action.channel);
    case "channel.deleted":
      return listed(state, { ...action.channel, archived: true });
    case "error":
      return action.client_id === undefined ? state : failed(state, action.client_id, action);
    case "ack":
    case "channel.accepted":
    case "cron.list":
    case "tool.get":
    case "commands.list":
    case "search.results":
    case "session":
    case "device.list":
    case "device.invite":
    case "push.state":
    case "push.note":
    case "push.close":
    case "pong":
    case "server.closing":
      return state;
    case "local.queued":
      return {
        ...state,
        outbox: [...state.outbox, {
          clientId: action.clientId,
          address: addressOf(action.address),
          text: action.text,
          attachments: action.attachments,
          autoThread: action.autoThread,
          quote: action.quote,
          replaces: action.replaces,
          // What was written later sorts later, also within one tick of the clock.
          ts: Math.max(now / 1000, (state.outbox.at(-1)?.ts ?? 0) + 0.001),
          state: "pending",
          messageId: undefined,
          receipt: undefined,
          error: undefined,
          elsewhere: false,
        }],
      };
    case "local.retried":
      return inOutbox(state, action.clientId, (pending) => ({ ...pending, state: "pending", error: undefined }));
    case "local.discarded":
      return { ...state, outbox: state.outbox.filter((pending) => pending.clientId !== action.clientId) };
    case "local.outboxShared":
      return retire(shared(state, action.rows));
    case "local.historyAsked":
      return inLane(state, action.address, (lane) => ({ ...lane, history: "loading" }));
    case "local.historyFailed":
      return inLane(state, action.address, (lane) => ({ ...lane, history: "failed" }));
    case "local.excerptAsked":
      return inLane(state, action.address, (lane) => lanes.excerptAsked(lane, action.place));
    case "local.excerptArrived":
      return retire(inLane(state, action.address, (lane) => lanes.excerptArrived(lane, action.place, action.page)));
    case "local.excerptFailed":
      return inLane(state, action.address, (lane) => lanes.excerptFailed(lane, action.place));
    case "local.excerptClosed":
      return inLane(state, action.address, (lane) => (lane.excerpt === undefined ? lane : { ...lane, excerpt: undefined }));
    case "local.watching":
      return action.on === state.watching ? state : { ...state, watching: action.on };
    case "local.stopAsked":
      return inLane(state, action.address, (lane) => ({ ...lane, stopping: true }));
    case "local.stopFailed":
      return inLane(state, action.address, (lane) => ({ ...lane, stopping: false }));
    case "local.laneOpened":
      return opened(state, addressOf(action.address));
    case "local.forgotten":
      return INITIAL_STATE;
    default:
      return unknown(state, action);
  }
}

/** The compiler proves that nothing known arrives here; what a newer server sends is left alone. */
function unknown(state: State, _action: never): State {
  return state;
}

function inLane(state: State, address: LaneAddress, change: (lane: Lane) => Lane): State {
  const lane = laneOf(state, address);
  const next = change(lane);
  return next === lane ? state : { ...state, lanes: { ...state.lanes, [laneKey(address)]: next } };
}

function inOutbox(state: State, clientId: string, change: (pending: Pending) => Pending): State {
  if (!state.outbox.some((pending) => pending.clientId === clientId)) return state;
  return { ...state, outbox: state.outbox.map((pending) => (pending.clientId === clientId ? change(pending) : pending)) };
}

function welcomed(state: State, ack: HelloAck): State {
  const { server, policy, epoch, seq: head } = ack;
  const told = { ...state, server, policy, epoch, head, rooms: {}, outbox: disputed(state.outbox, epoch) };
  if (ack.mode === "resumed") {
    // What was deleted meanwhile is told by the events that follow.
    const directory = ack.directory.reduce(withEntry, state.directory);
    return leftWhenGone(state, { ...returned(told, ack), directory, lanes: withAsked(afterPause(state.lanes), ack.requests ?? []) });
  }
  const running = ack.lanes.filter((lane) => lane.turn_id !== undefined);
  const fresh = {
    ...told,
    seq: ack.seq,
    directory: ack.directory,
    ...countsOf(ack.lanes),
    lanes: withAsked(Object.fromEntries(running.map((lane) => [laneKey(lane), { ...EMPTY_LANE, runningTurn: lane.turn_id }])), ack.requests ?? []),
  };
  return retire(arrived(fresh, nearestTo(fresh.directory, state.openLane)));
}

/** A log that begins anew may have lost what it wrote down: it is sent again, and a gateway that has it says so. */
function disputed(outbox: State["outbox"], epoch: string): State["outbox"] {
  const isDoubtful = (pending: Pending): boolean => pending.receipt !== undefined && pending.receipt.epoch !== epoch;
  return outbox.map((pending) => (isDoubtful(pending) ? { ...pending, state: "pending", receipt: undefined } : pending));
}

/** The person comes back to what was missed: nobody has seen it yet, and it is set off from what was read. */
function returned(state: State, ack: HelloAck): State {
  if (ack.seq === state.seq) return state;
  const open = ack.lanes.find((lane) => sameLane(lane, state.openLane));
  const newAfter = state.newAfter ?? (open?.unread ? (state.read[laneKey(open)] ?? 0) : undefined);
  return { ...state, watching: false, newAfter };
}

/** A lane that the person watches being deleted is left, and one that never was; one that was gone when it was opened is not. */
function leftWhenGone(before: State, after: State): State {
  const { openLane, directory } = after;
  const isUnknown = entryOf(directory, openLane) === undefined;
  const leaves = isUnknown || (isGone(directory, openLane) && !isGone(before.directory, openLane));
  return leaves ? opened(after, nearestTo(directory, openLane)) : after;
}

/** What went down with the last connection: answers are asked for anew, and who types is told anew. */
function afterPause(known: State["lanes"]): State["lanes"] {
  return Object.fromEntries(
    Object.entries(known).map(([key, lane]) => {
      const history = lane.history === "loading" ? "failed" : lane.history;
      const excerpt = lane.excerpt?.history === "loading" ? { ...lane.excerpt, history: "failed" as const } : lane.excerpt;
      return [key, { ...lane, history, excerpt, stopping: false, typingUntil: 0 } satisfies Lane];
    }),
  );
}

function opened(state: State, address: LaneAddress): State {
  return sameLane(state.openLane, address) ? state : arrived(state, address);
}

/** Where what is new begins is settled when a lane is opened, and stays there while it is read. */
export function arrived(state: State, address: LaneAddress): State {
  const key = laneKey(address);
  const newAfter = state.unread[key] === undefined ? undefined : (state.read[key] ?? 0);
  return { ...state, openLane: address, watching: false, newAfter };
}

function listed(state: State, entry: Channel): State {
  const directory = withEntry(state.directory, entry);
  return opened({ ...state, directory }, openAfter(state.directory, directory, entry, state.openLane));
}

function created(state: State, { channel, auto }: ChannelCreated): State {
  const next = listed(state, channel);
  return auto ? newborn(next, channel) : next;
}

/** A lane that was minted a moment ago for a message: whatever it will hold comes as events, there is nothing to load. */
function newborn(state: State, place: LaneAddress): State {
  return laneKey(place) in state.lanes ? state : inLane(state, place, (lane) => ({ ...lane, history: "loaded" }));
}

/**
 * The gateway opened a thread for a message of this page: its bubble moves there.
 *
 * So does the view, if it still shows where the message was written. A second acceptance finds the bubble moved, and
 * a thread that another device's message opened finds none: neither takes the person anywhere.
 */
function followed(state: State, clientId: string | undefined, place: LaneAddress): State {
  const pending = state.outbox.find((candidate) => candidate.clientId === clientId);
  if (pending === undefined || sameLane(pending.address, place)) return state;
  const address = addressOf(place);
  const known = entryOf(state.directory, place) === undefined ? newborn(state, place) : state;
  const moved = inOutbox(known, pending.clientId, (own) => ({ ...own, address }));
  return !pending.elsewhere && sameLane(state.openLane, pending.address) ? opened(moved, address) : moved;
}

function withMessage(state: State, frame: Message): State {
  const there = afterMessage(followed(state, frame.client_id, frame), frame);
  return retire(inLane(there, frame, (lane) => lanes.wholeMessage(lane, frame)));
}

/** What the other pages have in the outbox; of its own rows, each page knows more than it wrote down. */
function shared(state: State, rows: readonly Pending[]): State {
  const own = state.outbox.filter((pending) => !pending.elsewhere);
  // What was accepted without a place in the log (in a room) is the gateway's to deliver, and no page waits for it again.
  const waits = (row: Pending): boolean => row.elsewhere || row.state !== "sent" || row.receipt !== undefined;
  const others = rows.filter((row) => waits(row) && !own.some((pending) => pending.clientId === row.clientId));
  return { ...state, outbox: [...own, ...others].sort((a, b) => a.ts - b.ts) };
}

/** Takes out of the outbox what stands in its lane by now, or came in there before that lane was looked at. */
function retire(state: State): State {
  const wasSeen = ({ receipt }: Pending): boolean => receipt !== undefined && receipt.epoch === state.epoch && receipt.seq <= state.seq;
  const left = state.outbox.filter((pending) => !wasSeen(pending) && !hasEcho(state, pending));
  return left.length === state.outbox.length ? state : { ...state, outbox: left };
}

function hasEcho(state: State, pending: Pending): boolean {
  return laneOf(state, pending.address).entries.some(
    (entry) => entry.kind === "message" && (entry.clientId === pending.clientId || entry.id === pending.messageId),
  );
}

function updated(state: State, frame: MessageUpdate): State {
  for (const [key, lane] of Object.entries(state.lanes)) {
    const next = lanes.bubbleUpdated(lane, frame);
    if (next !== lane) return { ...state, lanes: { ...state.lanes, [key]: next } };
  }
  return state;
}

function accepted(state: State, frame: MessageAccepted): State {
  return retire(
    inOutbox(followed(state, frame.client_id, frame), frame.client_id, (pending) => ({
      ...pending,
      state: "sent",
      messageId: frame.message_id,
      receipt: state.epoch === undefined || frame.seq === undefined ? undefined : { epoch: state.epoch, seq: frame.seq },
      error: undefined,
    })),
  );
}

function failed(state: State, clientId: string, { code, message: error }: Failure): State {
  return inOutbox(state, clientId, (pending) => ({ ...pending, state: "failed", error, code }));
}
