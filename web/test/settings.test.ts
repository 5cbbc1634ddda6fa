import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Action } from "../src/model.ts";
import { rowsOf } from "../src/rows.ts";
import { settingsIn, shownRows } from "../src/settings.ts";
import type { Settings } from "../src/settings.ts";
import { bubble, done, LANE, lane, play, said, toolEnd, toolStart, turnEnd, turnStart } from "./frames.ts";

const DEFAULTS = settingsIn(null);

describe("what is kept", () => {
  test("nothing kept is every default", () => {
    assert.deepEqual(DEFAULTS, { theme: "system", textSize: "normal", language: "system", enter: "sends", tools: "truncated", reasoning: "collapsed", streaming: "on" });
  });

  test("a known value is taken; an unknown one, or a text that is none, is not", () => {
    assert.deepEqual(settingsIn('{"theme":"dark","textSize":"huge","other":1}'), { ...DEFAULTS, theme: "dark" });
    for (const broken of ["", "{", "null", "[]", '"dark"', '{"theme":null}']) assert.deepEqual(settingsIn(broken), DEFAULTS);
  });
});

describe("what is shown", () => {
  const kinds = (actions: readonly Action[], change: Partial<Settings>): string[] => {
    const state = play(actions);
    const rows = rowsOf(lane(state), { chat_id: LANE }, state.outbox);
    return shownRows(rows, { ...DEFAULTS, ...change }).map((row) => (row.kind === "tools" ? row.tools.map(({ id }) => id).join() : row.kind));
  };
  const TURN = [said("m1", 1), turnStart(), toolStart("k2", 2), toolEnd("k2"), toolStart("k3", 3), toolEnd("k3", { state: "error" })];
  const OVER = [...TURN, done("m4", 4, "answer"), turnEnd()];

  test("without tool detail only the calls that failed are left", () => {
    assert.deepEqual(kinds(OVER, {}), ["mine", "k2,k3", "answer", "footer"]);
    assert.deepEqual(kinds(OVER, { tools: "everything" }), ["mine", "k2,k3", "answer", "footer"]);
    assert.deepEqual(kinds(OVER, { tools: "nothing" }), ["mine", "k3", "answer", "footer"]);
    assert.deepEqual(kinds([turnStart(), toolStart("k1", 1)], { tools: "nothing" }), []);
  });

  test("without streaming a reply is shown once it is complete", () => {
    const live: Action[] = [said("m1", 1), turnStart(), bubble("m2", 2), { type: "message.update", message_id: "m2", text: "half" }];
    assert.deepEqual(kinds(live, {}), ["mine", "answer"]);
    assert.deepEqual(kinds(live, { streaming: "off" }), ["mine"]);
    assert.deepEqual(kinds(OVER, { streaming: "off" }), ["mine", "k2,k3", "answer", "footer"]);
  });
});
