import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf, withEntryAt, withEntryIn } from "../src/entries.ts";
import type { Entry } from "../src/model.ts";
import { entry, play, said, toolStart } from "./frames.ts";

const known = play([said("m", 1), toolStart("k", 2)]);
const [MESSAGE, TOOL] = [entry(known, "m"), entry(known, "k")];

test("every list knows where its own entries stand, also one that others were made from", () => {
  let seed = 3;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  let lists: (readonly Entry[])[] = [[]];
  for (let step = 0; step < 400; step++) {
    const from = lists[random(lists.length)] ?? [];
    const [id, order] = [`e${random(60)}`, random(40)];
    const made: Entry = { ...(random(2) === 0 ? MESSAGE : TOOL), id, order };
    const at = placeOf(from, made.kind, id);
    assert.equal(at, from.findIndex((one) => one.id === id && one.kind === made.kind));
    const next = at < 0 ? withEntryIn(from, made) : withEntryAt(from, at, { ...made, order: from[at]?.order ?? 0 });
    assert.equal(next.length, from.length + (at < 0 ? 1 : 0));
    assert.ok(next.every((one, place) => place === 0 || (next[place - 1]?.order ?? 0) <= one.order), "sorted");
    for (const one of next) assert.equal(next[placeOf(next, one.kind, one.id)], one);
    lists = [...lists.slice(-5), next];
  }
});

test("a message and a tool call may have the same name", () => {
  const entries = [MESSAGE, { ...TOOL, id: "m" }];
  assert.deepEqual([placeOf(entries, "message", "m"), placeOf(entries, "tool", "m"), placeOf(entries, "ask", "m")], [0, 1, -1]);
});
