/** What a room shows of its members, and how it says how things stand. */
import { clock, sentence } from "./format.ts";
import { words } from "./language.ts";
import type { Limit, Member, RoomState, Sender, SharedSession } from "./protocol/frames.ts";

const HUES = 8;
/** Seconds after which a name stands above a message again. */
const PAUSE = 300;

/** One of the colours of names; the same name has the same one everywhere. */
export function hueOf(name: string): number {
  let hash = 7;
  for (const char of name) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 9973;
  return hash % HUES;
}

export function initialOf(name: string): string {
  return (Array.from(name.trim())[0] ?? "?").toUpperCase();
}

/** What is said of somebody beside the name; of a person nothing needs to be. */
export function markOf(kind: Sender["kind"]): string | undefined {
  return kind === "person" ? undefined : kind === "agent" ? words.value.room.agent : words.value.room.unknown;
}

/** Whether a message goes on where the one before it ended. */
export function goesOn(before: { readonly sender?: Sender | undefined; readonly ts: number }, next: { readonly sender?: Sender | undefined; readonly ts: number }): boolean {
  return before.sender?.name === next.sender?.name && before.sender?.kind === next.sender?.kind && next.ts - before.ts < PAUSE;
}

export function countWords(members: readonly Member[]): string {
  return words.value.room.here(members.filter((member) => member.here).length);
}

/** Who writes, besides oneself. */
export function typingWords(members: readonly Member[]): string | undefined {
  const names = members.filter((member) => member.typing && !member.own).map((member) => member.name);
  const [first] = names;
  const { room } = words.value;
  if (first === undefined) return undefined;
  if (names.length > 3) return room.manyWrite(names.length);
  return names.length === 1 ? room.oneWrites(first) : room.someWrite(names);
}

export function leaseWords(lease: SharedSession, now: number): string {
  const { room } = words.value;
  const until = clock(lease.until, now);
  return lease.title ? room.sharesNamed(lease.name, lease.title, until) : room.shares(lease.name, until);
}

export function limitWords(limit: Limit, now: number): string {
  const { room } = words.value;
  const cause = room.causes[limit.rule];
  return limit.until ? room.silentUntil(limit.name, clock(limit.until, now), cause) : room.silent(limit.name, cause);
}

/** Why one is not in the room, undefined while one is. */
export function linkWords(room: RoomState): string | undefined {
  if (room.link === "joined") return undefined;
  if (room.link === "connecting") return words.value.room.joining;
  return words.value.room.outside(room.why ? sentence(room.why) : "");
}
