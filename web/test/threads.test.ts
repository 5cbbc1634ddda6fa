import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { laneKey, laneOf } from "../src/model.ts";
import type { Action, State } from "../src/model.ts";
import { rowsOf } from "../src/rows.ts";
import { ack, channel, created, HOME, LANE, page, play, queued, said, thread } from "./frames.ts";

const topic = thread(1, LANE);
const there = { chat_id: LANE, thread_id: "t_1" };
const minted: Action = created(topic, { auto: true });
const accepted: Action = { type: "message.accepted", client_id: "c1", message_id: "m1", ...there, seq: 2 };
const echo: Action = said("m1", 1, { ...there, client_id: "c1", text: "hello" });
const sent = queued("c1", { autoThread: true });
const start = play([ack({ directory: [{ ...HOME, threads: true }, channel(1)] })]);
const open = (state: State): string => laneKey(state.openLane);
const shown = (state: State) => rowsOf(laneOf(state, there), there, state.outbox);

describe("a message that opens a thread", () => {
  test("takes the view and its bubble along, in whatever order the answers come", () => {
    for (const order of [[minted, echo, accepted], [accepted, minted, echo], [minted, accepted, echo], [echo, minted, accepted]]) {
      let state = play([sent], start);
      for (const [at, action] of order.entries()) {
        state = play([action], state);
        const mine = [...rowsOf(laneOf(state, { chat_id: LANE }), { chat_id: LANE }, state.outbox), ...shown(state)];
        assert.deepEqual(mine.map((row) => row.key), ["c1"], `one bubble after ${at + 1} of ${order.map((one) => one.type)}`);
      }
      assert.equal(open(state), `${LANE}/t_1`);
      assert.deepEqual(state.outbox, []);
      assert.deepEqual(shown(state).map((row) => row.key), ["c1"]);
    }
  });

  test("is there at once, without a page to load", () => {
    for (const order of [[minted, accepted], [accepted, minted]]) {
      const state = play([sent, ...order], start);
      assert.equal(laneOf(state, there).history, "loaded");
      assert.equal(shown(state)[0]?.kind, "mine");
    }
  });

  test("takes nobody along who looks at something else by now", () => {
    const away = play([sent, { type: "local.laneOpened", address: channel(1) }, minted, accepted, echo], start);
    assert.equal(open(away), "android:chan_1");
    assert.equal(laneOf(away, there).entries.length, 1);
  });

  test("takes the view once: whoever went back stays, whatever is repeated", () => {
    const back = play([sent, minted, accepted, { type: "local.laneOpened", address: { chat_id: LANE } }], start);
    assert.equal(open(play([accepted, accepted, echo, accepted], back)), LANE);
  });

  test("of another device or page leaves the view alone", () => {
    assert.equal(open(play([minted, said("m1", 1, { ...there, client_id: "other" })], start)), LANE);
    assert.equal(open(play([queued("c2"), minted, echo], start)), LANE);
  });

  test("follows after a failed try, and once only", () => {
    const failed = play([sent, { type: "error", code: "busy", message: "Later.", client_id: "c1" }], start);
    assert.equal(open(failed), LANE);
    assert.equal(failed.outbox[0]?.state, "failed");
    const retried = play([{ type: "local.retried", clientId: "c1" }, minted, accepted], failed);
    assert.equal(open(retried), `${LANE}/t_1`);
    assert.ok(retried.outbox[0]?.autoThread);
  });

  test("is found after a reset that came between", () => {
    const state = play([sent, ack({ epoch: "e2", directory: [{ ...HOME, threads: true }, topic] }), accepted], start);
    assert.equal(open(state), `${LANE}/t_1`);
    assert.equal(laneOf(state, there).history, "unknown");
    assert.deepEqual(play([page([said("m1", 1)], there)], state).outbox, []);
  });

  test("two of them open two threads, and the view follows the first", () => {
    const state = play([
      sent, queued("c2", { autoThread: true }), minted, accepted,
      created(thread(2, LANE), { auto: true }), { ...accepted, client_id: "c2", message_id: "m2", thread_id: "t_2" } as Action,
    ], start);
    assert.equal(open(state), `${LANE}/t_1`);
    assert.deepEqual(state.outbox.map((pending) => laneKey(pending.address)), [`${LANE}/t_1`, `${LANE}/t_2`]);
  });
});

test("a restored thread is loaded like any other", () => {
  assert.equal(laneOf(play([created(topic)], start), there).history, "unknown");
});

test("a reply shows what it answers, pending and stored, whether that is loaded or not", () => {
  const quote = { message_id: "r1", order: 1, role: "cron", name: "nightly", text: "Backup done" } as const;
  const quotes = (state: State) => shown(state).flatMap((row) => (row.kind === "mine" ? [row.quote] : []));
  const asked = play([queued("c1", { quote }), minted, accepted], start);
  assert.deepEqual(quotes(asked), [quote]);
  assert.deepEqual(quotes(play([{ ...echo, reply_to: "r1", quote } as Action], asked)), [quote]);
  assert.deepEqual(quotes(play([{ ...echo, reply_to: "r9" } as Action], start)), [undefined]);
});
