import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Action } from "../src/model.ts";
import { keyAt, lastModel, lastOwnText, reuseRows, rowsOf } from "../src/rows.ts";
import type { Row } from "../src/rows.ts";
import { bubble, done, LANE, lane, page, play, queued, remark, said, toolCard, toolEnd, toolStart, turnEnd, turnStart } from "./frames.ts";

const address = { chat_id: LANE };
const TURN: Action[] = [
  said("m1", 1), turnStart(), remark("m2", 2), toolStart("k3", 3), toolEnd("k3"), toolStart("k4", 4), toolEnd("k4"),
  done("m5", 5, "answer", { model: "m", tokens: 9 }), turnEnd(),
];

function rows(actions: readonly Action[]): Row[] {
  const state = play(actions);
  return rowsOf(lane(state), address, state.outbox);
}

function footer(actions: readonly Action[]) {
  const row = rows(actions).at(-1);
  assert.equal(row?.kind, "footer");
  return row.footer;
}

test("a turn reads from top to bottom, its tool calls in one card", () => {
  const shown = rows(TURN);
  assert.deepEqual(shown.map((row) => row.kind), ["mine", "remark", "tools", "answer", "footer"]);
  assert.deepEqual(shown.flatMap((row) => (row.kind === "tools" ? row.tools.map((tool) => tool.id) : [])), ["k3", "k4"]);
});

test("text between two calls parts their cards, and so does another turn", () => {
  assert.deepEqual(rows([turnStart(), toolStart("k1", 1), remark("m2", 2), toolStart("k3", 3)]).map((row) => row.kind), ["tools", "remark", "tools"]);
  assert.deepEqual(
    rows([page([toolCard("k1", 1), toolCard("k2", 2, { turn_id: "t2" })])]).map((row) => row.kind),
    ["tools", "tools"],
  );
});

test("a live bubble without text takes no room", () => {
  assert.deepEqual(rows([turnStart(), bubble("m1", 1)]), []);
});

describe("the footer", () => {
  test("tells model, tokens and time", () => {
    assert.partialDeepStrictEqual(footer(TURN), { model: "m", tokens: 9, took: 12, ending: "done" });
  });

  test("waits for the end of the turn", () => {
    assert.ok(!rows(TURN.slice(0, -1)).some((row) => row.kind === "footer"));
  });

  test("says that a turn was stopped, also when it left only tools or nothing", () => {
    const stop = turnEnd("t1", { outcome: "interrupted" });
    assert.equal(footer([turnStart(), toolStart("k1", 1), stop]).ending, "interrupted");
    assert.equal(footer([said("m1", 1), turnStart(), stop]).ending, "interrupted");
    assert.equal(footer([page([said("m1", 1, { role: "assistant", kind: "partial", state: "aborted" })])]).ending, "stopped");
  });

  test("tells why a turn failed, once", () => {
    const failure = turnEnd("t1", { outcome: "failure", error: "No credit." });
    for (const middle of [[], [toolStart("k2", 2)]]) {
      const shown = rows([said("m1", 1), turnStart(), ...middle, failure, said("m8", 8)]);
      assert.deepEqual(shown.flatMap((row) => (row.kind === "footer" ? [row.footer.error] : [])), ["No credit."]);
      assert.equal(shown.at(-1)?.kind, "mine");
    }
  });
});

test("notices and reports are never answers", () => {
  const shown = rows([said("m1", 1, { role: "notice" }), said("m2", 2, { role: "cron" })]);
  assert.deepEqual(shown.map((row) => row.kind), ["notice", "cron"]);
});

test("a pending message stands last, and its echo takes its row over", () => {
  const before = rows([...TURN, queued("c1")]).at(-1);
  const after = rows([...TURN, queued("c1"), said("m9", 9, { client_id: "c1", text: "hello" })]).at(-1);
  assert.partialDeepStrictEqual(before, { kind: "mine", key: "c1", pending: { state: "pending" } });
  assert.partialDeepStrictEqual(after, { kind: "mine", key: "c1", pending: undefined });
});

test("rows that stayed as they were are the same objects", () => {
  const before = rows(TURN);
  const state = play([...TURN, said("m9", 9)]);
  const after = reuseRows(before, rowsOf(lane(state), address, state.outbox));
  assert.equal(after.length, before.length + 1);
  assert.deepEqual(before.map((row, at) => row.kind === "mine" || row.kind === "footer" ? row === after[at] : true), before.map(() => true));
});

test("what to recall and which model wrote", () => {
  const state = play([...TURN, queued("c1", { text: "newest" })]);
  assert.equal(lastOwnText(lane(state), address, state.outbox), "newest");
  assert.equal(lastOwnText(lane(state), address, []), "text of m1");
  assert.equal(lastModel(lane(state)), "m");
});

test("a message is found at its place under the key of its row, and a tool call is no message", () => {
  const state = play([...TURN, said("m6", 6, { client_id: "c6" })]);
  assert.deepEqual([1, 3, 5, 6, 7].map((order) => keyAt(lane(state), order)), ["m1", undefined, "m5", "c6", undefined]);
  const keys = rowsOf(lane(state), address, []).map((row) => row.key);
  for (const order of [1, 2, 5, 6]) assert.ok(keys.includes(keyAt(lane(state), order) ?? ""));
});
