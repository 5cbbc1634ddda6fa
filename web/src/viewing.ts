/** The pictures that are looked at, one at a time. */
import { signal } from "@preact/signals";
import { shownPart } from "./lane.ts";
import { laneOf } from "./model.ts";
import type { Attachment, LaneAddress, State } from "./model.ts";

export interface Viewing {
  readonly pictures: readonly Attachment[];
  readonly at: number;
}

export const viewing = signal<Viewing | undefined>(undefined);

/** Opens a picture among all of its lane that are on the page. */
export function view(state: State, address: LaneAddress, picture: Attachment): void {
  const files = shownPart(laneOf(state, address)).entries.flatMap((entry) => (entry.kind === "message" ? entry.attachments : []));
  const pictures = files.filter((file) => file.kind === "image");
  const at = pictures.findIndex((file) => file.id === picture.id);
  viewing.value = at < 0 ? { pictures: [picture], at: 0 } : { pictures, at };
}

/** The next picture in a direction; at the end there is none. */
export function turnPage(by: 1 | -1): void {
  const now = viewing.value;
  const at = (now?.at ?? 0) + by;
  if (now?.pictures[at] !== undefined) viewing.value = { ...now, at };
}
