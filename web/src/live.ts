/** What is being written, apart from all that stands still meanwhile: a word more is drawn where it is shown, and nowhere else. */
import { computed } from "@preact/signals";
import { snapshot } from "./app.ts";
import { hasOnlyGrown } from "./lane.ts";
import { laneOf } from "./model.ts";
import type { Lane, MessageEntry } from "./model.ts";

let held: Lane | undefined;

/** The open lane: the same object while only the words of live messages grow, which `textOf` gives. */
export const restingLane = computed(() => {
  const { state } = snapshot.value;
  const lane = laneOf(state, state.openLane);
  if (held === undefined || !hasOnlyGrown(held, lane)) held = lane;
  return held;
});

/** What a message of the open lane says now. */
export function textOf(entry: MessageEntry): string {
  if (entry.state !== "live") return entry.text;
  const { state } = snapshot.value;
  const now = laneOf(state, state.openLane).entries.findLast(({ id }) => id === entry.id);
  return now?.kind === "message" ? now.text : entry.text;
}
