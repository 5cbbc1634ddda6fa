/**
 * The entries of a lane, found by what they are called.
 *
 * Who comes back may be told of thousands of entries, one after the other: each would be looked for in vain among all
 * before it. So a list hands on to the next one which names are in it.
 */
import type { Entry } from "./model.ts";

const names = new WeakMap<readonly Entry[], Set<string>>();

/** Where an entry stands; -1 if it is not there. */
export function placeOf(entries: readonly Entry[], kind: Entry["kind"], id: string): number {
  let known = names.get(entries);
  if (known === undefined) names.set(entries, (known = new Set(entries.map(nameOf))));
  // What is asked for is seldom far from the end.
  return known.has(nameOf({ kind, id })) ? entries.findLastIndex((entry) => entry.id === id && entry.kind === kind) : -1;
}

/** With an entry more, where it belongs. */
export function withEntryIn(entries: readonly Entry[], entry: Entry): readonly Entry[] {
  let at = entries.length;
  for (let left = entries[at - 1]; left !== undefined && comesBefore(entry, left); left = entries[at - 1]) at--;
  const next = entries.toSpliced(at, 0, entry);
  handOn(entries, next)?.add(nameOf(entry));
  return next;
}

/** With another state of an entry. */
export function withEntryAt(entries: readonly Entry[], at: number, entry: Entry): readonly Entry[] {
  const next = entries.with(at, entry);
  handOn(entries, next);
  return next;
}

export function comesBefore(a: Entry, b: Entry): boolean {
  return a.order < b.order || (a.order === b.order && a.id < b.id);
}

/** The names go to the newest list; an older one that is asked again finds them anew. */
function handOn(from: readonly Entry[], to: readonly Entry[]): Set<string> | undefined {
  const known = names.get(from);
  names.delete(from);
  if (known !== undefined) names.set(to, known);
  return known;
}

function nameOf({ kind, id }: Pick<Entry, "kind" | "id">): string {
  return `${kind} ${id}`;
}
