import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { INITIAL_STATE, isBusy } from "../src/model.ts";
import type { Action } from "../src/model.ts";
import type { ServerFrame } from "../src/protocol/frames.ts";
import { reduce, standing } from "../src/state.ts";
import { ack, bubble, done, entry, ids, LANE, lane, NOW, page, play, queued, remark, said, toolCard, toolEnd, toolStart, turnEnd, turnStart } from "./frames.ts";

const address = { chat_id: LANE };

describe("the event log", () => {
  test("an event that was seen is ignored", () => {
    const once = play([ack({ seq: 4 }), said("m1", 1, { seq: 5 })]);
    assert.equal(reduce(once, said("m2", 2, { seq: 5 }), NOW), once);
    assert.equal(reduce(once, said("m2", 2, { seq: 3 }), NOW), once);
  });

  test("an event behind a gap is not applied", () => {
    const state = play([ack({ seq: 4 })]);
    const far = said("m1", 1, { seq: 6 });
    assert.equal(standing(state, far), "gap");
    assert.equal(reduce(state, far, NOW), state);
    assert.equal(standing(state, said("m1", 1, { seq: 5 })), "next");
  });

  test("the numbers in an ack and in an acceptance are not those of events", () => {
    const state = play([ack({ seq: 4 })]);
    assert.equal(standing(state, ack({ seq: 40 })), "next");
    assert.equal(standing(state, { type: "message.accepted", client_id: "c", message_id: "m", chat_id: LANE, seq: 40 }), "next");
  });

  test("a reset forgets the lanes and takes the place of the snapshot", () => {
    const state = play([ack(), said("m1", 1, { seq: 1 }), ack({ epoch: "e2", seq: 70, lanes: [{ chat_id: LANE, turn_id: "t9" }] })]);
    assert.deepEqual(ids(state), []);
    assert.equal(state.seq, 70);
    assert.equal(state.epoch, "e2");
    assert.equal(lane(state).runningTurn, "t9");
    assert.equal(lane(state).history, "unknown");
  });

  test("a resumption keeps the lanes and the place", () => {
    const state = play([ack(), said("m1", 1, { seq: 1 }), ack({ mode: "resumed", seq: 3 }), said("m2", 2, { seq: 2 })]);
    assert.deepEqual(ids(state), ["m1", "m2"]);
    assert.equal(state.seq, 2);
  });

  test("a frame of a newer server changes nothing", () => {
    const state = play([ack()]);
    assert.equal(reduce(state, { type: "channel.sparkled" } as unknown as ServerFrame, NOW), state);
  });
});

describe("order", () => {
  test("entries are sorted by their place, in whatever order they come", () => {
    assert.deepEqual(ids(play([said("m3", 3), toolStart("k2", 2), said("m1", 1)])), ["m1", "k2", "m3"]);
  });

  test("an entry never moves", () => {
    const state = play([bubble("m1", 1), said("m2", 2), done("m1", 9, "late")]);
    assert.deepEqual(ids(state), ["m1", "m2"]);
    assert.equal(entry(state, "m1").order, 1);
  });
});

describe("a bubble", () => {
  test("start, updates, stop", () => {
    const live = play([bubble("m1", 1), { type: "message.update", message_id: "m1", text: "Hel" }]);
    assert.partialDeepStrictEqual(entry(live, "m1"), { text: "Hel", state: "live" });
    const stopped = play([done("m1", 1, "Hello", { model: "m", tokens: 7 })], live);
    assert.partialDeepStrictEqual(entry(stopped, "m1"), { text: "Hello", state: "complete", model: "m", tokens: 7 });
  });

  test("a text may shrink", () => {
    const state = play([bubble("m1", 1), { type: "message.update", message_id: "m1", text: "Hello" }, { type: "message.update", message_id: "m1", text: "He" }]);
    assert.partialDeepStrictEqual(entry(state, "m1"), { text: "He" });
  });

  test("pieces are added where they belong, in any script", () => {
    const course: Action[] = [bubble("m1", 1), { type: "message.update", message_id: "m1", text: "你好 👩‍🚀" }];
    const state = play([...course, { type: "message.update", message_id: "m1", offset: 8, append: "!" }, { type: "message.update", message_id: "m1", offset: 9, append: " ok" }]);
    assert.partialDeepStrictEqual(entry(state, "m1"), { text: "你好 👩‍🚀! ok" });
  });

  test("a piece of another text changes nothing, and the next whole text puts it right", () => {
    const known = play([bubble("m1", 1), { type: "message.update", message_id: "m1", text: "Hello" }]);
    assert.equal(reduce(known, { type: "message.update", message_id: "m1", offset: 7, append: "?" }, NOW), known);
    const healed = play([{ type: "message.update", message_id: "m1", text: "Hello you" }], known);
    assert.partialDeepStrictEqual(entry(healed, "m1"), { text: "Hello you" });
  });

  test("a stop creates a bubble that nobody saw start", () => {
    assert.partialDeepStrictEqual(entry(play([done("m1", 1, "All of it")]), "m1"), { text: "All of it", state: "complete" });
  });

  test("a second stop changes nothing", () => {
    const state = play([done("m1", 1, "text")]);
    assert.equal(reduce(state, done("m1", 1, "text"), NOW), state);
  });

  test("an update of an unknown bubble is ignored", () => {
    const state = play([ack()]);
    assert.equal(reduce(state, { type: "message.update", message_id: "m9", text: "x" }, NOW), state);
  });

  test("what stopped never becomes live again", () => {
    const late: Action[] = [bubble("m1", 1), { type: "message.update", message_id: "m1", text: "half" }];
    assert.partialDeepStrictEqual(entry(play([done("m1", 1, "whole"), ...late]), "m1"), { text: "whole", state: "complete" });
  });

  test("a bubble started again for a joiner keeps what it has", () => {
    const state = play([bubble("m1", 1), { type: "message.update", message_id: "m1", text: "so far" }, bubble("m1", 1)]);
    assert.partialDeepStrictEqual(entry(state, "m1"), { text: "so far", state: "live" });
  });

  test("commentary with no text carries its reasoning", () => {
    const state = play([remark("m1", 1, { text: "", reasoning: "think" })]);
    assert.partialDeepStrictEqual(entry(state, "m1"), { shape: "commentary", text: "", reasoning: "think" });
  });
});

describe("a tool call", () => {
  test("ends with its output and keeps its arguments", () => {
    const state = play([toolStart("k1", 1), toolEnd("k1")]);
    assert.partialDeepStrictEqual(entry(state, "k1"), { state: "ok", output: "out", args: { command: "ls" }, duration: 0.4 });
  });

  test("never runs again once it ended", () => {
    for (const again of [toolStart("k1", 1), page([toolCard("k1", 1, { state: "running" })])]) {
      assert.partialDeepStrictEqual(entry(play([toolStart("k1", 1), toolEnd("k1"), again]), "k1"), { state: "ok", output: "out" });
    }
  });

  test("an end that comes before its card is kept for it", () => {
    const state = play([toolEnd("k1", { state: "error", ok: false }), page([toolCard("k1", 1, { state: "running" })])]);
    assert.partialDeepStrictEqual(entry(state, "k1"), { state: "error", output: "out" });
  });
});

describe("a turn", () => {
  test("its end closes what it left open", () => {
    const state = play([turnStart(), bubble("m1", 1), { type: "message.update", message_id: "m1", text: "half" }, toolStart("k1", 2), turnEnd("t1", { outcome: "interrupted" })]);
    assert.partialDeepStrictEqual(entry(state, "m1"), { state: "aborted", shape: "partial", text: "half" });
    assert.partialDeepStrictEqual(entry(state, "k1"), { state: "cancelled" });
    assert.equal(lane(state).runningTurn, undefined);
  });

  test("its end leaves another turn alone", () => {
    const state = play([turnStart("t2"), toolStart("k1", 1, { turn_id: "t2" }), turnEnd("t1")]);
    assert.partialDeepStrictEqual(entry(state, "k1"), { state: "running" });
    assert.equal(lane(state).runningTurn, "t2");
  });

  test("nothing of it opens after its end", () => {
    const state = play([turnStart(), turnEnd(), bubble("m1", 1), toolStart("k1", 2), turnStart()]);
    assert.deepEqual(ids(state), ["k1"]);
    assert.partialDeepStrictEqual(entry(state, "k1"), { state: "cancelled" });
    assert.equal(lane(state).runningTurn, undefined);
  });

  test("a stored text wins over the half that its end left", () => {
    const state = play([turnStart(), bubble("m1", 1), turnEnd(), page([said("m1", 1, { role: "assistant", text: "whole", turn_id: "t1" })])]);
    assert.partialDeepStrictEqual(entry(state, "m1"), { text: "whole", state: "complete" });
  });

  test("typing ends by the clock, and with the turn", () => {
    const typing: Action = { type: "typing", chat_id: LANE, on: true, ttl: 5 };
    const state = play([typing]);
    assert.ok(isBusy(lane(state), NOW + 4_999));
    assert.ok(!isBusy(lane(state), NOW + 5_000));
    assert.ok(!isBusy(lane(play([turnStart(), typing, turnEnd()])), NOW));
    assert.ok(!isBusy(lane(play([typing, { ...typing, on: false }])), NOW));
  });
});

describe("history", () => {
  const live: Action[] = [
    said("m1", 1), turnStart(), remark("m2", 2), toolStart("k3", 3), toolEnd("k3"), bubble("m4", 4), done("m4", 4, "answer", { model: "m", tokens: 9 }), turnEnd(),
  ];
  const stored = page([
    said("m1", 1),
    said("m2", 2, { role: "assistant", kind: "commentary", text: "I look first.", turn_id: "t1" }),
    toolCard("k3", 3),
    said("m4", 4, { role: "assistant", kind: "final", state: "complete", text: "answer", turn_id: "t1", model: "m", tokens: 9 }),
  ]);

  test("a page and the live events give the same lane, in any order and twice", () => {
    const expected = lane(play(live)).entries;
    for (let cut = 0; cut <= live.length; cut++) {
      const mixed = play([...live.slice(0, cut), stored, ...live.slice(cut), stored]);
      assert.deepEqual(lane(mixed).entries, expected, `page after ${cut} events`);
    }
    assert.deepEqual(lane(play([ack(), stored])).entries, expected, "page alone");
  });

  test("an older page goes in front and says whether there is more", () => {
    const recent = play([page([said("m5", 5)], { has_more: true })]);
    assert.ok(lane(recent).hasOlder);
    const all = play([page([said("m3", 3)], { has_more: false })], recent);
    assert.deepEqual(ids(all), ["m3", "m5"]);
    assert.ok(!lane(all).hasOlder);
  });

  test("a page that reaches less far back does not say what lies before the lane", () => {
    const state = play([page([said("m1", 1), said("m5", 5)]), page([said("m5", 5)], { has_more: true })]);
    assert.ok(!lane(state).hasOlder);
  });

  test("a page that was under way when the connection went is asked for again", () => {
    const state = play([ack(), { type: "local.historyAsked", address }, ack({ mode: "resumed" })]);
    assert.equal(lane(state).history, "failed");
  });
});

describe("the outbox", () => {
  const first = queued("c1");
  const accepted: Action = { type: "message.accepted", client_id: "c1", message_id: "m1", chat_id: LANE, seq: 1 };
  const states = (actions: Action[]) => play(actions).outbox.map((pending) => pending.state);

  test("pending, sent, and gone with the echo", () => {
    assert.deepEqual(states([first]), ["pending"]);
    assert.deepEqual(states([first, accepted]), ["sent"]);
    assert.deepEqual(states([first, accepted, said("m1", 1, { client_id: "c1" })]), []);
    assert.deepEqual(states([first, said("m1", 1, { client_id: "c1" }), accepted]), []);
  });

  test("the same text twice is two messages: only the id tells", () => {
    const state = play([first, queued("c2"), said("m1", 1, { client_id: "c2", text: "hello" })]);
    assert.deepEqual(state.outbox.map((pending) => pending.clientId), ["c1"]);
  });

  test("an accepted message is found in a page after a reset", () => {
    assert.deepEqual(states([first, accepted, ack(), page([said("m1", 1)])]), []);
  });

  test("what was refused says why, and can be tried again", () => {
    const refused: Action = { type: "error", code: "busy", message: "Later.", client_id: "c1" };
    assert.partialDeepStrictEqual(play([first, refused]).outbox[0], { error: "Later.", code: "busy" });
    assert.deepEqual(states([first, refused]), ["failed"]);
    assert.deepEqual(states([first, refused, { type: "local.retried", clientId: "c1" }]), ["pending"]);
  });

  test("a reset keeps what was not sent", () => {
    assert.deepEqual(states([first, ack()]), ["pending"]);
  });

  test("an error of nobody's request changes nothing", () => {
    const state = play([first]);
    assert.equal(reduce(state, { type: "error", code: "internal", message: "x" }, NOW), state);
  });
});

test("an open lane that is archived gives way to the default one", () => {
  const [home] = ack().directory;
  assert.ok(home);
  const trip = { chat_id: "android:chan_7", name: "Trip", kind: "channel", created: 2 } as const;
  const opened = play([ack({ directory: [home, trip] }), { type: "local.laneOpened", address: trip }]);
  assert.equal(opened.openLane.chat_id, "android:chan_7");
  assert.equal(play([ack({ directory: [home, { ...trip, archived: true }] })], opened).openLane.chat_id, LANE);
  assert.deepEqual(play([{ type: "local.forgotten" }], opened), INITIAL_STATE);
});
