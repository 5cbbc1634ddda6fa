/** The open lane in the address bar, in the tab's title, and over a reload. */
import { isAtCover, leavingCover } from "./back.ts";
import { entryOf, isGone, isThere } from "./directory.ts";
import { sameLane } from "./model.ts";
import type { LaneAddress, State } from "./model.ts";
import { addressIn, fragmentOf, placeIn } from "./place.ts";
import type { Place } from "./place.ts";

const STORAGE_KEY = "iris.lane";

/** A link wins over where this browser was last. */
export function placeToBeginWith(): Place | undefined {
  return placeIn(location.hash) ?? placeIn(localStorage.getItem(STORAGE_KEY) ?? "");
}

/** Where a link or the back button leads; nothing when that is gone, or where the person is already. */
export function placeInAddressBar({ directory, openLane }: State): Place | undefined {
  const asked = placeIn(location.hash);
  if (asked === undefined || entryOf(directory, asked.address) === undefined) return undefined;
  if (asked.order === undefined && (sameLane(asked.address, openLane) || isGone(directory, asked.address))) return undefined;
  return asked;
}

/** A link to a message, for whoever is paired with the same gateway. */
export function linkTo(address: LaneAddress, order: number): string {
  return location.origin + location.pathname + fragmentOf(address, order);
}

/** The person has left the message that the address bar names. */
export function leaveMessage({ openLane }: State): void {
  if (placeIn(location.hash)?.order !== undefined) history.replaceState(null, "", fragmentOf(openLane));
}

export function showInAddressBar(state: State): void {
  // Before the gateway has told what there is, a link may still turn out to lead nowhere.
  if (state.epoch === undefined || leavingCover.peek()) return;
  const fragment = fragmentOf(state.openLane);
  if (localStorage.getItem(STORAGE_KEY) !== fragment) localStorage.setItem(STORAGE_KEY, fragment);
  const left = addressIn(location.hash);
  // A message of this lane stays named until it is left.
  if (left !== undefined && sameLane(left, state.openLane)) return;
  // The back button never leads to a lane that is gone.
  const keepsWayBack = left !== undefined && isThere(state.directory, left);
  history[keepsWayBack && !isAtCover() ? "pushState" : "replaceState"](null, "", fragment);
}

export function titleOf(unread: number, name: string | undefined): string {
  return `${unread > 0 ? `(${unread}) ` : ""}${name === undefined ? "" : `${name} · `}Iris`;
}
