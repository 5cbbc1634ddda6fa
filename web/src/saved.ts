/**
 * What of the state outlives the page, and what of it changed since it was written down.
 *
 * Only what the gateway has committed is saved: no text that is still being written, nothing that belongs to one view.
 * Changes carry the place in the log together with everything up to it.
 */
import { isGone, nearestTo } from "./directory.ts";
import { EMPTY_LANE, INITIAL_STATE } from "./model.ts";
import type { Lane, LaneAddress, LaneKey, Pending, State } from "./model.ts";
import { arrived } from "./state.ts";

const MOST_ENTRIES = 60;
const MOST_LANES = 80;

/** Of the view and of the connection, or kept in a place of its own. */
type Fleeting = "lanes" | "openLane" | "watching" | "newAfter" | "head" | "outbox" | "rooms" | "paired";
export type Parts = Omit<State, Fleeting>;

export interface Saved {
  readonly parts: Parts;
  readonly lanes: Readonly<Record<LaneKey, Lane>>;
}

export interface Changes {
  /** Whether it replaces whatever was saved. */
  readonly whole: boolean;
  readonly parts: Partial<Parts>;
  readonly lanes: Readonly<Record<LaneKey, Lane>>;
  readonly dropped: readonly LaneKey[];
}

export function savedOf(state: State): Saved {
  const { lanes, openLane: _, watching: __, newAfter: ___, head: ____, outbox: _____, rooms: ______, paired: _______, ...parts } = state;
  const known = Object.entries(lanes).map(([key, lane]) => [key, committed(lane)] as const).filter(([, lane]) => !isBlank(lane));
  const newest = known.sort(([, a], [, b]) => weight(b) - weight(a)).slice(0, MOST_LANES);
  return { parts, lanes: Object.fromEntries(newest) };
}

/** Nothing when there is nothing to write. */
export function changesBetween(before: Saved | undefined, after: Saved): Changes | undefined {
  if (before === undefined) return { whole: true, ...after, dropped: [] };
  const differs = ([name, part]: [string, unknown]): boolean => part !== before.parts[name as keyof Parts];
  const parts = Object.fromEntries(Object.entries(after.parts).filter(differs)) as Partial<Parts>;
  const changed = Object.entries(after.lanes).filter(([key, lane]) => !sameLane(before.lanes[key], lane));
  const dropped = Object.keys(before.lanes).filter((key) => !(key in after.lanes));
  const isNothing = changed.length + dropped.length + Object.keys(parts).length === 0;
  return isNothing ? undefined : { whole: false, parts, lanes: Object.fromEntries(changed), dropped };
}

/** The state that a page begins with. A lane that is not known here may have been made since, and stays open. */
export function restored(saved: Saved | undefined, outbox: readonly Pending[], openLane: LaneAddress): State {
  const state = { ...INITIAL_STATE, ...saved?.parts, lanes: saved?.lanes ?? {}, outbox, openLane };
  return arrived(state, isGone(state.directory, openLane) ? nearestTo(state.directory, openLane) : openLane);
}

function committed(lane: Lane): Lane {
  const whole = lane.entries.filter((entry) => entry.kind !== "message" || entry.state !== "live");
  const entries = whole.slice(-MOST_ENTRIES);
  const first = entries[0]?.order ?? 0;
  const turns = Object.entries(lane.turns).filter(([, turn]) => turn.outcome === undefined || turn.afterOrder >= first);
  return {
    ...lane,
    entries,
    turns: Object.fromEntries(turns),
    history: lane.history === "loaded" ? "loaded" : "unknown",
    hasOlder: lane.hasOlder || entries.length < whole.length,
    excerpt: undefined,
    stopping: false,
    typingUntil: 0,
  };
}

function isBlank(lane: Lane): boolean {
  return sameLane(lane, EMPTY_LANE);
}

/** A lane where the agent works is never dropped: that it does is told once. */
function weight(lane: Lane): number {
  return lane.runningTurn === undefined ? (lane.entries.at(-1)?.ts ?? 0) : Infinity;
}

/** As far as what is in them is the same: an entry that did not change is the same object. */
function sameLane(a: Lane | undefined, b: Lane): boolean {
  return a !== undefined && (Object.keys(b) as (keyof Lane)[]).every((name) => sameMembers(a[name], b[name]));
}

function sameMembers(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const [left, right] = [Object.entries(a), Object.entries(b)];
  return left.length === right.length && right.every(([name, member]) => (a as Record<string, unknown>)[name] === member);
}
