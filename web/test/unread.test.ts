import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MARK_DELAY } from "../src/marks.ts";
import type { Action, State } from "../src/model.ts";
import type { ReadMarked } from "../src/protocol/frames.ts";
import { rowsOf } from "../src/rows.ts";
import { Session } from "../src/session.ts";
import { unreadInAll, unreadUnder } from "../src/unread.ts";
import { ack, bubble, channel, created, deleted, done, HOME, LANE, lane, page, play, remark, said, thread, toolStart } from "./frames.ts";
import { begun, welcome, World } from "./world.ts";

const there = { chat_id: "android:chan_1" };
const topic = thread(1, LANE);
const opening = (address: { chat_id: string; thread_id?: string }): Action => ({ type: "local.laneOpened", address });
const watching = (on: boolean): Action => ({ type: "local.watching", on });
const marked = (order: number, unread = 0): ReadMarked => ({ type: "read.marked", ...there, order, unread });
const news = (id: string, order: number): Action => said(id, order, { ...there, role: "cron" });
const start = play([ack({ directory: [HOME, channel(1), topic] })]);
const count = (actions: readonly Action[], from: State = start): number => unreadInAll(play(actions, from));

describe("unread", () => {
  test("counts reports and answers, of the open lane too unless its end is in view", () => {
    assert.equal(count([said("m1", 1, { ...there, role: "cron" }), said("m2", 2, { ...there, role: "assistant" })]), 2);
    assert.equal(count([bubble("m1", 1, "t1"), { ...done("m3", 3, "answer"), ...there }]), 1);
    assert.equal(count([said("m1", 1, { role: "cron" }), done("m2", 2, "answer")]), 2);
    assert.equal(count([watching(true), said("m1", 1, { role: "cron" }), done("m2", 2, "answer")]), 0);
  });

  test("counts nothing of people, no remarks and no notices", () => {
    assert.equal(count([said("m1", 1, there), said("m2", 2, { ...there, role: "notice" })]), 0);
    assert.equal(count([{ ...remark("m1", 1), ...there }, { ...done("m2", 2, "text", { kind: "commentary" }), ...there }]), 0);
  });

  test("counts no answer that was cut short, as the gateway does not either", () => {
    assert.equal(count([{ ...done("m1", 1, "an", { kind: "partial", state: "aborted" }), ...there }]), 0);
  });

  test("counts an answer once: not as it streams, not twice, not again from a page", () => {
    const stop = { ...done("m1", 1, "answer"), ...there };
    assert.equal(count([{ ...bubble("m1", 1), ...there }, { type: "message.update", message_id: "m1", text: "an" }]), 0);
    assert.equal(count([{ ...bubble("m1", 1), ...there }, stop, stop]), 1);
    assert.equal(count([page([said("m1", 1, { role: "assistant" })], there)]), 0);
    assert.equal(count([page([said("m1", 1, { role: "assistant" })], there), stop]), 0);
  });

  test("is as the gateway tells it after a reset, and goes on from what is here after a resumption", () => {
    const told = play([ack({ directory: [HOME, channel(1)], lanes: [{ ...there, read: 4, unread: 3 }] })]);
    assert.equal(unreadInAll(told), 3);
    assert.equal(count([news("m9", 9)], told), 4);
    assert.equal(count([news("m4", 4)], told), 3, "was read elsewhere");
    const resumed = ack({ mode: "resumed", directory: told.directory as never, lanes: [{ ...there, read: 4, unread: 5 }] });
    assert.equal(count([resumed, news("m9", 9), news("m10", 10)], told), 5);
  });

  test("of a channel includes its threads, and of all lanes only what can be seen", () => {
    const report = said("m1", 1, { chat_id: LANE, thread_id: "t_1", role: "cron" });
    const state = play([report, said("m2", 2, { ...there, role: "cron" })], start);
    assert.deepEqual([unreadUnder(state, LANE), unreadUnder(state, there.chat_id)], [1, 1]);
    assert.equal(count([deleted(topic), deleted(channel(1))], state), 0);
    assert.equal(count([deleted(topic), created(topic)], state), 2);
  });
});

describe("a mark", () => {
  test("of another device takes away what is read, and never comes back", () => {
    const state = play([news("m1", 1), news("m2", 2), news("m3", 3)], start);
    assert.equal(count([marked(2, 1)], state), 1);
    assert.equal(count([marked(3), marked(1)], state), 0);
    assert.equal(play([marked(3), marked(1)], state).read[there.chat_id], 3);
  });

  test("of another device leaves what comes after it in a lane that was never loaded here", () => {
    const told = play([ack({ directory: [HOME, channel(1)], lanes: [{ ...there, read: 4, unread: 5 }] }), news("m12", 12)]);
    assert.equal(count([marked(7, 4)], told), 4);
    assert.equal(count([marked(7, 4), news("m13", 13)], told), 5);
  });

  test("opening a lane reads nothing; having its end in view does", () => {
    const state = play([news("m1", 1), news("m2", 2), opening(there)], start);
    assert.equal(unreadInAll(state), 2);
    const read = play([watching(true)], state);
    assert.deepEqual([unreadInAll(read), read.read[there.chat_id]], [0, 2]);
    assert.equal(count([opening({ chat_id: LANE }), news("m4", 4)], read), 1, "another lane is watched only when its end is in view");
  });

  test("stops before an answer that is still being written", () => {
    const state = play([watching(true), said("m1", 1), toolStart("k2", 2), bubble("m3", 3), said("m4", 4)], start);
    assert.equal(state.read[LANE], 2);
    assert.equal(count([watching(false), done("m3", 3, "answer")], state), 1);
    assert.equal(play([done("m3", 3, "answer")], state).read[LANE], 4);
  });
});

describe("the divider", () => {
  const whole = page([said("m1", 1), said("m2", 2, { role: "assistant" }), said("m3", 3), said("m4", 4, { role: "assistant" })], there);
  const told = play([ack({ directory: [HOME, channel(1)], lanes: [{ ...there, read: 2, unread: 1 }] })]);
  const shown = (state: State): string[] => {
    const own = state.lanes[there.chat_id];
    assert.ok(own);
    return rowsOf(own, there, [], state.newAfter).map((row) => row.key);
  };

  test("stands before the first thing that others said, and stays while one reads on", () => {
    const state = play([opening(there), whole], told);
    assert.deepEqual(shown(state), ["m1", "m2", "m3", "divider", "m4"]);
    const on = play([watching(true), said("m5", 5, { ...there, role: "assistant" }), marked(5)], state);
    assert.deepEqual(shown(on), ["m1", "m2", "m3", "divider", "m4", "m5"]);
    assert.equal(unreadInAll(on), 0);
  });

  test("is gone when the lane is opened again, and never there where nothing was new", () => {
    const back = play([opening(there), whole, watching(true), opening({ chat_id: LANE }), opening(there)], told);
    assert.deepEqual(shown(back), ["m1", "m2", "m3", "m4"]);
    assert.equal(play([opening({ chat_id: LANE })], told).newAfter, undefined);
    const seen = play([watching(true), said("m1", 1, { role: "cron" })], start);
    assert.equal(seen.newAfter, undefined);
  });

  test("sets off what came in while there was no connection, and leaves it unread until it is seen", () => {
    const before = play([whole, opening(there), watching(true)], start);
    const missed = ack({ mode: "resumed", seq: 1, directory: [], lanes: [{ ...there, read: 4, unread: 1 }] });
    const back = play([missed, said("m5", 5, { ...there, role: "cron", seq: 1 })], before);
    assert.deepEqual(shown(back), ["m1", "m2", "m3", "m4", "divider", "m5"]);
    assert.equal(unreadInAll(back), 1);
    assert.equal(unreadInAll(play([watching(true)], back)), 0);
    const nothing = play([ack({ mode: "resumed", directory: [], lanes: [{ ...there, read: 4 }] })], before);
    assert.deepEqual([nothing.newAfter, nothing.watching], [undefined, true]);
  });

  test("waits for the page that has what was read last", () => {
    const later = page([said("m4", 4, { ...there, role: "assistant" })], { ...there, has_more: true });
    const state = play([opening(there), later], told);
    assert.deepEqual(shown(state), ["m4"]);
    assert.deepEqual(shown(play([whole], state)), ["m1", "m2", "m3", "divider", "m4"]);
  });
});

describe("marks of this device", () => {
  const marksOf = (world: World): unknown[] =>
    world.sockets.flatMap((socket) => socket.sent.flatMap((frame) => (frame.type === "read.mark" ? [[frame.chat_id, frame.order]] : [])));

  test("are sent when one has come to rest, and only the furthest", () => {
    const { world, session } = begun();
    welcome(world);
    session.watch(true);
    for (let order = 1; order <= 3; order++) world.socket.says(said(`m${order}`, order, { seq: order }));
    assert.deepEqual(marksOf(world), []);
    world.pass(MARK_DELAY);
    assert.deepEqual(marksOf(world), [[LANE, 3]]);
    world.socket.says({ ...marked(3), chat_id: LANE, seq: 4 });
    world.pass(MARK_DELAY);
    assert.deepEqual(marksOf(world), [[LANE, 3]]);
  });

  test("are not sent for what another device has marked, or what the gateway knows", () => {
    const { world, session } = begun();
    welcome(world, { lanes: [{ chat_id: LANE, read: 5 }] });
    world.socket.says(page([said("m5", 5)], { client_id: "id-1" }));
    session.watch(true);
    world.socket.says({ ...marked(6), chat_id: LANE, seq: 1 });
    world.socket.says(said("m6", 6, { seq: 2 }));
    world.pass(MARK_DELAY);
    assert.deepEqual(marksOf(world), []);
  });

  test("wait for the connection", () => {
    const { world, session } = begun();
    welcome(world);
    session.watch(true);
    world.socket.says(said("m1", 1, { seq: 1 }));
    world.socket.closes(1006);
    world.pass(1_000);
    assert.deepEqual(marksOf(world), []);
    welcome(world, { mode: "resumed", seq: 1 });
    assert.deepEqual(marksOf(world), [[LANE, 1]]);
  });

  test("that the gateway never heard are told by the next page, as far as it is the same log", () => {
    for (const epoch of ["e1", "e2"]) {
      const state = play([ack({ lanes: [{ chat_id: LANE, read: 1, unread: 1 }] }), watching(true), said("m2", 2, { role: "cron", seq: 1 })]);
      const world = new World();
      const session = new Session(world, { id: "d1", token: "tok", name: "Test" }, () => "id", () => undefined, state);
      session.start();
      welcome(world, { epoch, lanes: [{ chat_id: LANE, read: 1, unread: 1 }], mode: epoch === "e1" ? "resumed" : "reset", seq: 1 });
      assert.deepEqual(marksOf(world), epoch === "e1" ? [[LANE, 2]] : []);
    }
  });

  test("of a lane that was left at once are sent all the same", () => {
    const { world, session, shown } = begun();
    welcome(world, { directory: [HOME, channel(1)] });
    session.watch(true);
    world.socket.says(said("m1", 1, { seq: 1 }));
    session.openLane(there);
    world.pass(MARK_DELAY);
    assert.deepEqual(marksOf(world), [[LANE, 1]]);
    assert.equal(lane(shown().state).entries.length, 1);
  });
});
