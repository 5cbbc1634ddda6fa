/**
 * What the person took back: a message that another one replaced, with what it led to. It stays in the log, folded up
 * where it stood, because the agent has forgotten it but the person may want to look.
 */
import { laneKey } from "./model.ts";
import type { Entry, Lane, LaneAddress, Pending } from "./model.ts";

/** For each entry that was taken back, the message that stands in its place now. */
export function foldsOf(lane: Lane, address: LaneAddress, outbox: readonly Pending[]): ReadonlyMap<Entry, string> {
  const folds = new Map<Entry, string>();
  const { entries } = lane;
  const fold = (replaced: string, end: number, heir: string): void => {
    const known = entries.findIndex((entry) => entry.id === replaced);
    // One that is not loaded stands before all that is.
    const start = known < 0 && !lane.hasOlder ? end : Math.max(known, 0);
    for (const entry of entries.slice(start, end)) if (goesWith(entry) && !folds.has(entry)) folds.set(entry, heir);
  };
  const key = laneKey(address);
  for (const { replaces, clientId, state, address: there } of outbox) {
    if (replaces !== undefined && state !== "failed" && laneKey(there) === key) fold(replaces, entries.length, clientId);
  }
  // From the end: what was replaced twice belongs to the last one.
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (entry?.kind === "message" && entry.replaces !== undefined) fold(entry.replaces, at, folds.get(entry) ?? entry.clientId ?? entry.id);
  }
  return folds;
}

/** A report that came in meanwhile has nothing to do with it. */
function goesWith(entry: Entry): boolean {
  return entry.kind !== "message" || entry.role !== "cron";
}
