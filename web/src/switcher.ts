/** Which channels and threads a few letters may mean. */
import { channelsInOrder, threadsOf } from "./directory.ts";
import { laneKey, sameLane } from "./model.ts";
import type { Channel, State } from "./model.ts";

const MOST = 6;
/** Longer texts, quotes and `role:` look for what was said, not for a name. */
const LONGEST = 24;
const SEARCH_MARKS = /["“”:]/;

/** Before there is a letter: what has news first, and never where the person is. */
export function lanesToGo({ directory, openLane, unread }: State): readonly Channel[] {
  const news = lanesIn(directory).filter((entry) => unread[laneKey(entry)] !== undefined);
  const all = new Set([...news, ...channelsInOrder(directory)]);
  return [...all].filter((entry) => !sameLane(entry, openLane)).slice(0, MOST);
}

export function lanesLike(directory: readonly Channel[], query: string): readonly Channel[] {
  const letters = fold(query);
  if (letters === "" || letters.length > LONGEST || SEARCH_MARKS.test(letters)) return [];
  const ranked = lanesIn(directory).map((entry) => ({ entry, rank: rankOf(fold(entry.name), letters) })).filter(({ rank }) => rank < 3);
  return ranked.sort((a, b) => a.rank - b.rank).slice(0, MOST).map(({ entry }) => entry);
}

function lanesIn(directory: readonly Channel[]): readonly Channel[] {
  return channelsInOrder(directory).flatMap((channel) => [channel, ...threadsOf(directory, channel.chat_id)]);
}

/** From the beginning of the name, of a word in it, or anywhere in it. */
function rankOf(name: string, letters: string): number {
  if (name.startsWith(letters)) return 0;
  if (name.includes(` ${letters}`)) return 1;
  return name.includes(letters) ? 2 : 3;
}

export function fold(text: string): string {
  return text.trim().normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
