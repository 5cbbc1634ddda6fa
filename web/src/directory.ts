/** What the gateway's list of channels and threads means: what is there, in which order, and who is under whom. */
import { words } from "./language.ts";
import { addressOf, laneKey, sameLane } from "./model.ts";
import type { Channel, LaneAddress, State } from "./model.ts";

type Directory = readonly Channel[];

export interface Groups {
  readonly home: Channel | undefined;
  readonly channels: Directory;
  readonly automation: Directory;
  readonly rooms: Directory;
}

/** Puts one whole entry in the place of what was known of it, and leaves the others alone. */
export function withEntry(directory: Directory, entry: Channel): Directory {
  const known = directory.findIndex((other) => sameLane(other, entry));
  const next = known < 0 ? [...directory, entry] : directory.with(known, entry);
  if (entry.is_default !== true) return next;
  // There is one default channel: a moment with two would open now the one, now the other.
  return next.map((other) => (other.is_default && !sameLane(other, entry) ? { ...other, is_default: false } : other));
}

export function entryOf(directory: Directory, address: LaneAddress): Channel | undefined {
  return directory.find((entry) => sameLane(entry, address));
}

/** What a lane is called, with the channel that it is under. */
export function pathOf(directory: Directory, address: LaneAddress): string {
  const channel = entryOf(directory, { chat_id: address.chat_id })?.name ?? words.value.lanes.aDeletedChannel;
  const thread = address.thread_id === undefined ? undefined : entryOf(directory, address)?.name;
  return thread === undefined ? channel : `${channel} › ${thread}`;
}

/** Where the app goes when it has nowhere else to be. */
export function homeOf(directory: Directory): Channel | undefined {
  const present = directory.filter(isShownChannel);
  return present.find((entry) => entry.is_default) ?? present.find((entry) => entry.kind === "default") ?? present[0];
}

export function groupsOf(directory: Directory): Groups {
  const home = homeOf(directory);
  const rest = directory.filter((entry) => entry !== home && isShownChannel(entry)).sort(olderFirst);
  return {
    home,
    channels: rest.filter((entry) => !entry.automation && entry.kind !== "room"),
    automation: rest.filter((entry) => entry.automation),
    rooms: rest.filter((entry) => !entry.automation && entry.kind === "room"),
  };
}

/** The channels in the order in which the column shows them. */
export function channelsInOrder(directory: Directory): Directory {
  const { home, channels, automation, rooms } = groupsOf(directory);
  return [...(home === undefined ? [] : [home]), ...channels, ...automation, ...rooms];
}

/** The channel before (-1) or after (+1) the open one, round the ends. */
export function neighbour(directory: Directory, open: LaneAddress, step: -1 | 1): Channel | undefined {
  const channels = channelsInOrder(directory);
  const at = channels.findIndex((entry) => entry.chat_id === open.chat_id);
  return channels[(at + step + channels.length) % channels.length];
}

/** The threads under a channel, newest first. */
export function threadsOf(directory: Directory, chatId: string): Directory {
  return directory
    .filter((entry) => entry.thread_id !== undefined && entry.chat_id === chatId && !entry.archived)
    .sort((a, b) => olderFirst(b, a));
}

/** Whether a lane can be shown: neither it nor its channel is deleted. */
export function isThere(directory: Directory, address: LaneAddress): boolean {
  return entryOf(directory, address) !== undefined && !isGone(directory, address);
}

/** The lane itself while it is there; else its channel, else the default one. */
export function nearestTo(directory: Directory, address: LaneAddress): LaneAddress {
  if (isThere(directory, address)) return address;
  const channel = { chat_id: address.chat_id };
  if (isThere(directory, channel)) return channel;
  const home = homeOf(directory);
  return home === undefined ? address : addressOf(home);
}

/** Whether a lane was deleted, by itself or with its channel. */
export function isGone(directory: Directory, address: LaneAddress): boolean {
  return [address, { chat_id: address.chat_id }].some((place) => entryOf(directory, place)?.archived);
}

/**
 * Where the open lane is after a change of one entry.
 *
 * A lane that the directory does not list yet stays open: an answer may name a thread before its event does.
 */
export function openAfter(before: Directory, after: Directory, changed: Channel, open: LaneAddress): LaneAddress {
  if (changed.chat_id !== open.chat_id) return open;
  // A lane that was gone when it was opened is read as what it is.
  if (isGone(after, open) && !isGone(before, open)) return nearestTo(after, open);
  const switchedOff = changed.is_default && !changed.threads && (entryOf(before, changed)?.threads ?? false);
  return switchedOff && changed.thread_id === undefined ? addressOf(changed) : open;
}

/** Whether a text that is sent to this lane begins a thread of its own. */
export function beginsThread(directory: Directory, address: LaneAddress, text: string): boolean {
  return isSplit(entryOf(directory, address)) && text.trim() !== "" && !text.startsWith("/");
}

/** Whether a person opens threads here. */
export function isSplit(entry: Channel | undefined): boolean {
  return entry?.thread_id === undefined && (entry?.is_default ?? false) && (entry?.threads ?? false);
}

/**
 * The threads to switch between above the list; undefined where there is nothing to switch.
 *
 * Where the default channel is not split, only a thread that is open or unread shows up: otherwise nobody could
 * leave it, or ever read what it says.
 */
export function topicsOf({ directory, openLane, unread }: Pick<State, "directory" | "openLane" | "unread">): Directory | undefined {
  const channel = entryOf(directory, { chat_id: openLane.chat_id });
  const threads = threadsOf(directory, openLane.chat_id);
  if (isSplit(channel)) return threads;
  if (channel?.archived) return undefined;
  const quiet = channel?.is_default === true && openLane.thread_id === undefined && threads.every((thread) => !unread[laneKey(thread)]);
  return threads.length === 0 || quiet ? undefined : threads;
}

function isShownChannel(entry: Channel): boolean {
  return entry.thread_id === undefined && !entry.archived;
}

function olderFirst(a: Channel, b: Channel): number {
  return a.created - b.created || (laneKey(a) < laneKey(b) ? -1 : 1);
}
