import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DEFAULT_LANE, INITIAL_STATE, laneKey } from "../src/model.ts";
import type { Action, State } from "../src/model.ts";
import { Recorder, SAVE_DELAY } from "../src/recorder.ts";
import { changesBetween, restored, savedOf } from "../src/saved.ts";
import type { Changes } from "../src/saved.ts";
import { ack, bubble, channel, created, deleted, done, HOME, ids, LANE, lane, page, play, said, toolStart, turnEnd, turnStart } from "./frames.ts";
import { World } from "./world.ts";

const there = { chat_id: "android:chan_1" };
const filled: readonly Action[] = [ack({ directory: [HOME, channel(1)] }), page([said("m1", 1), said("m2", 2)], { has_more: true }), said("m3", 3, { seq: 1 })];
const again = (state: State): State => restored(structuredClone(savedOf(state)), [], state.openLane);
const from = (state: State, ...actions: Action[]): Changes | undefined => changesBetween(savedOf(state), savedOf(play(actions, state)));

describe("what is saved", () => {
  test("brings back lanes, marks, directory and the place in the log", () => {
    const state = play([...filled, said("r1", 1, { ...there, role: "cron", seq: 2 })]);
    const next = again(state);
    assert.deepEqual([next.epoch, next.seq], ["e1", 2]);
    assert.deepEqual(next.directory, state.directory);
    assert.deepEqual(next.unread, { [there.chat_id]: 1 });
    assert.deepEqual(next.lanes, state.lanes);
  });

  test("holds nothing half-written, and nothing that was only asked for", () => {
    const state = play([
      ...filled, turnStart("t1", { seq: 2 }), bubble("b1", 4), { type: "message.update", message_id: "b1", text: "half of it" },
      toolStart("c1", 5, { seq: 3 }), { type: "typing", chat_id: LANE, on: true }, { type: "local.stopAsked", address: { chat_id: LANE } },
      { type: "local.historyAsked", address: there },
    ]);
    const kept = again(state);
    assert.deepEqual(ids(kept), ["m1", "m2", "m3", "c1"]);
    assert.partialDeepStrictEqual(lane(kept), { runningTurn: "t1", stopping: false, typingUntil: 0 });
    assert.ok(!(laneKey(there) in kept.lanes), "nothing is known of that lane");
    const resumed = play([ack({ mode: "resumed", seq: 5 }), done("b1", 4, "all of it", { seq: 4 }), turnEnd("t1", { seq: 5 })], kept);
    assert.deepEqual(ids(resumed), ["m1", "m2", "m3", "b1", "c1"]);
  });

  test("of a long lane is its end, and of many lanes the newest", () => {
    const long = play([ack(), page(Array.from({ length: 100 }, (_, at) => said(`m${at}`, at)))]);
    const { entries, hasOlder } = lane(again(long));
    assert.deepEqual([entries.length, entries.at(-1)?.id, hasOlder], [60, "m99", true]);
    const many = Array.from({ length: 100 }, (_, at) => said("m", 1, { chat_id: `android:chan_${at}`, ts: at }));
    const { lanes } = savedOf(play([ack(), turnStart("t1", { chat_id: "android:chan_3", seq: 1 }), ...many]));
    assert.equal(Object.keys(lanes).length, 80);
    assert.ok("android:chan_3" in lanes, "the agent works there");
    assert.ok(!("android:chan_4" in lanes) && "android:chan_99" in lanes);
  });

  test("drops the ends of turns whose messages are gone", () => {
    const old = [turnStart("t0", { seq: 1 }), turnEnd("t0", { seq: 2, outcome: "failure" })];
    const state = play([ack(), ...old, page(Array.from({ length: 70 }, (_, at) => said(`m${at}`, at + 1)))]);
    assert.deepEqual(lane(again(state)).turns, {});
  });

  test("shows where what is new begins", () => {
    const state = play([ack({ lanes: [{ chat_id: LANE, read: 2, unread: 1 }] })]);
    assert.equal(again(state).newAfter, 2);
  });

  test("leaves a lane that is gone, and keeps one that may be new until the gateway tells", () => {
    const saved = savedOf(play([ack({ directory: [HOME, channel(1)] }), deleted(channel(1))]));
    assert.deepEqual(restored(saved, [], there).openLane, DEFAULT_LANE);
    const unknown = restored(saved, [], { chat_id: "android:chan_9" });
    assert.deepEqual(unknown.openLane, { chat_id: "android:chan_9" });
    assert.deepEqual(play([ack({ mode: "resumed", directory: [HOME, channel(9)] })], unknown).openLane, { chat_id: "android:chan_9" });
    assert.deepEqual(play([ack({ mode: "resumed" })], unknown).openLane, DEFAULT_LANE);
  });
});

describe("changes", () => {
  const state = play(filled);

  test("are all there is where nothing was saved", () => {
    assert.deepEqual(changesBetween(undefined, savedOf(state)), { whole: true, ...savedOf(state), dropped: [] });
  });

  test("carry the place in the log with what it covers", () => {
    const changes = from(state, said("m4", 4, { seq: 2 }));
    assert.deepEqual(changes?.parts, { seq: 2 });
    assert.deepEqual(changes?.lanes[LANE]?.entries.map((entry) => entry.id), ["m1", "m2", "m3", "m4"]);
  });

  test("are none while an answer is being written, or the view changes", () => {
    const writing = play([bubble("b1", 4)], state);
    assert.equal(from(state, bubble("b1", 4)), undefined);
    assert.equal(from(writing, { type: "message.update", message_id: "b1", text: "more" }), undefined);
    assert.equal(from(state, { type: "local.laneOpened", address: there }), undefined);
  });

  test("after a reset drop every lane that was saved", () => {
    const changes = from(state, said("r1", 1, { ...there, seq: 2 }), ack({ epoch: "e2", seq: 9, directory: [HOME, channel(1)] }));
    assert.deepEqual(changes?.dropped, [LANE]);
    assert.partialDeepStrictEqual(changes?.parts, { epoch: "e2", seq: 9 });
  });
});

describe("the recorder", () => {
  const begun = (): { world: World; recorder: Recorder; written: Changes[]; settle: () => Promise<void> } => {
    const world = new World();
    const written: Changes[] = [];
    const recorder = new Recorder((changes) => (written.push(changes), Promise.resolve()), (delay, work) => world.after(delay, work));
    const settle = async (): Promise<void> => {
      world.pass(SAVE_DELAY);
      await new Promise(setImmediate);
    };
    return { world, recorder, written, settle };
  };
  const first = play(filled);

  test("writes nothing where another page does, and all of it once that page is gone", async () => {
    const { recorder, written, settle } = begun();
    recorder.note(first);
    await settle();
    assert.equal(written.length, 0);
    recorder.begin();
    await settle();
    assert.deepEqual(written.map((changes) => changes.whole), [true]);
    recorder.note(play([created(channel(2), { seq: 2 })], first));
    recorder.note(play([created(channel(2), { seq: 2 }), said("m4", 4, { seq: 3 })], first));
    await settle();
    assert.deepEqual(written.slice(1).map(({ whole, parts }) => [whole, parts.seq]), [[false, 3]], "one write for both");
  });

  test("has nothing to write before the gateway told of itself", async () => {
    const { recorder, written, settle } = begun();
    recorder.begin();
    recorder.note(INITIAL_STATE);
    await settle();
    assert.equal(written.length, 0);
  });

  test("counts as written only what was written", async () => {
    const world = new World();
    const outcomes: (() => Promise<void>)[] = [() => Promise.resolve(), () => Promise.reject(new Error("full"))];
    const tried: Changes[] = [];
    const recorder = new Recorder((changes) => (tried.push(changes), (outcomes.shift() ?? (() => Promise.resolve()))()), (delay, work) => world.after(delay, work));
    const warnings: unknown[] = [];
    const { warn } = console;
    console.warn = (...words: unknown[]) => void warnings.push(words);
    try {
      recorder.begin();
      let state = first;
      for (const seq of [2, 3, 4]) {
        recorder.note(state);
        world.pass(SAVE_DELAY);
        await new Promise(setImmediate);
        state = play([said(`m${seq + 2}`, seq + 2, { seq })], state);
      }
    } finally {
      console.warn = warn;
    }
    assert.equal(tried.length, 2, "it gives up after the failure");
    assert.equal(warnings.length, 1);
  });
});
