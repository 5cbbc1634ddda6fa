/**
 * The entries of a lane, found by what they are called.
 *
 * Who comes back may be told of thousands of entries, one after the other: each would be looked for among all before it.
 * So an index goes along from one list to the next as long as entries are only added or changed.
 */
import type { Entry } from "./model.ts";

type Index = Map<string, number>;

const indexes = new WeakMap<readonly Entry[], Index>();

/** Where an entry stands; -1 if it is not there. */
export function placeOf(entries: readonly Entry[], kind: Entry["kind"], id: string): number {
  let index = indexes.get(entries);
  if (index === undefined) {
    index = new Map(entries.map((entry, at) => [nameOf(entry), at]));
    indexes.set(entries, index);
  }
  return index.get(nameOf({ kind, id })) ?? -1;
}

/** With an entry more, where it belongs. */
export function withEntryIn(entries: readonly Entry[], entry: Entry): readonly Entry[] {
  let at = entries.length;
  for (let left = entries[at - 1]; left !== undefined && comesBefore(entry, left); left = entries[at - 1]) at--;
  if (at < entries.length) return entries.toSpliced(at, 0, entry);
  const next = [...entries, entry];
  carry(entries, next)?.set(nameOf(entry), at);
  return next;
}

/** With another state of an entry. */
export function withEntryAt(entries: readonly Entry[], at: number, entry: Entry): readonly Entry[] {
  const next = entries.with(at, entry);
  carry(entries, next);
  return next;
}

export function comesBefore(a: Entry, b: Entry): boolean {
  return a.order < b.order || (a.order === b.order && a.id < b.id);
}

/** The index belongs to the newest list; one that is asked again gets an index anew. */
function carry(from: readonly Entry[], to: readonly Entry[]): Index | undefined {
  const index = indexes.get(from);
  indexes.delete(from);
  if (index !== undefined) indexes.set(to, index);
  return index;
}

function nameOf({ kind, id }: Pick<Entry, "kind" | "id">): string {
  return `${kind} ${id}`;
}
