import assert from "node:assert/strict";
import { test } from "node:test";
import { hasOnlyGrown } from "../src/lane.ts";
import type { Action } from "../src/model.ts";
import { bubble, done, lane, play, remark, said, toolStart, turnStart } from "./frames.ts";

const words = (text: string): Action => ({ type: "message.update", message_id: "m2", text });
const WRITING = play([said("m1", 1), turnStart(), bubble("m2", 2), words("One")]);
const onlyGrows = (...actions: Action[]): boolean => hasOnlyGrown(lane(WRITING), lane(play(actions, WRITING)));

test("words that are added are growth, and so is nothing", () => {
  assert.ok(onlyGrows(words("One more")));
  assert.ok(onlyGrows(words("One more"), words("Two")));
  assert.ok(onlyGrows());
});

test("a first word is more than growth: there was nothing to show", () => {
  const begun = play([turnStart(), bubble("m2", 2)]);
  assert.ok(!hasOnlyGrown(lane(begun), lane(play([words("One")], begun))));
  assert.ok(!onlyGrows(words("")));
});

test("anything else is more than growth", () => {
  const others: Action[] = [
    done("m2", 2, "One more"), toolStart("k3", 3), remark("m3", 3), said("m3", 3), { type: "typing", chat_id: "android:default", on: true },
    { type: "local.stopAsked", address: { chat_id: "android:default" } },
  ];
  for (const other of others) assert.ok(!onlyGrows(words("One more"), other), other.type);
});
