import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { endHolds, shownPart } from "../src/lane.ts";
import { laneOf } from "../src/model.ts";
import type { Action, Lane, PagePlace, State } from "../src/model.ts";
import type { HistoryPage, Message } from "../src/protocol/frames.ts";
import { ack, bubble, channel, HOME, LANE, lane, page, play, queued, said, toolCard, toolEnd, turnEnd, turnStart } from "./frames.ts";
import { begun, welcome } from "./world.ts";

const address = { chat_id: LANE };
const lines = (from: number, to: number): Message[] => Array.from({ length: to - from + 1 }, (_, at) => said(`m${from + at}`, from + at));
const asked = (place: PagePlace): Action => ({ type: "local.excerptAsked", address, place });
const arrived = (place: PagePlace, entries: HistoryPage["entries"], has_more: boolean, has_newer: boolean): Action =>
  ({ type: "local.excerptArrived", address, place, page: page(entries, { has_more, has_newer }) });
const around = { around: 20 };
const places = (own: Lane): number[] => own.entries.map((entry) => entry.order);
const shown = (state: State): number[] => places(shownPart(lane(state)));
const end = [ack(), page(lines(90, 100), { has_more: true })];
const past = play([...end, asked(around), arrived(around, lines(15, 25), true, true)]);

describe("an excerpt", () => {
  test("is shown in place of the end, and both go on by themselves", () => {
    assert.deepEqual([shown(past)[0], shown(past).at(-1)], [15, 25]);
    const on = play([said("m101", 101)], past);
    assert.equal(shown(on).at(-1), 25);
    assert.equal(places(lane(on)).at(-1), 101);
    const back = play([{ type: "local.excerptClosed", address }], on);
    assert.deepEqual([shown(back)[0], shown(back).at(-1)], [90, 101]);
  });

  test("grows on both sides", () => {
    const [older, newer] = [{ before: 15 }, { after: 25 }];
    const state = play([asked(older), arrived(older, lines(5, 14), true, true), asked(newer), arrived(newer, lines(26, 40), true, true)], past);
    assert.deepEqual(shown(state), places(laneOf(play([page(lines(5, 40))]), address)));
    assert.partialDeepStrictEqual(lane(state).excerpt, { hasOlder: true, hasNewer: true });
  });

  test("becomes one with the end when they meet", () => {
    const newer = { after: 25 };
    const state = play([asked(newer), arrived(newer, lines(26, 90), true, true)], past);
    assert.equal(lane(state).excerpt, undefined);
    assert.deepEqual([shown(state).length, lane(state).hasOlder], [86, true]);
  });

  test("becomes one with the end when there is nothing newer", () => {
    const state = play([ack(), asked(around), said("m27", 27), arrived(around, lines(15, 26), false, false)]);
    assert.deepEqual([shown(state)[0], shown(state).at(-1)], [15, 27]);
    assert.partialDeepStrictEqual(lane(state), { excerpt: undefined, history: "loaded", hasOlder: false });
  });

  test("does not meet an end that may itself have gaps", () => {
    const state = play([ack(), said("m25", 25), asked(around), arrived(around, lines(15, 25), true, true)]);
    assert.notEqual(lane(state).excerpt, undefined);
  });

  test("takes only the page that it waits for", () => {
    const other = { around: 60 };
    const late = play([asked(around), asked(other), arrived(around, lines(15, 25), true, true)], play(end));
    assert.deepEqual(shown(late), []);
    assert.deepEqual(shown(play([arrived(other, lines(55, 65), true, true)], late)), places(laneOf(play([page(lines(55, 65))]), address)));
    const closed = play([asked({ after: 25 }), { type: "local.excerptClosed", address }, arrived({ after: 25 }, lines(26, 30), true, true)], past);
    assert.equal(shown(closed)[0], 90);
  });

  test("that could not be loaded says so, and so does one that was under way when the connection went", () => {
    assert.equal(lane(play([asked(around), { type: "local.excerptFailed", address, place: around }])).excerpt?.history, "failed");
    assert.equal(lane(play([ack(), asked(around), ack({ mode: "resumed" })])).excerpt?.history, "failed");
  });

  test("shows no tool that runs on after its end", () => {
    const running = [toolCard("k20", 20, { state: "running" }), toolCard("k21", 21, { state: "running", tool_call_id: "k21" })];
    const state = play([ack(), turnStart(), asked(around), arrived(around, running, true, true), toolEnd("k20"), turnEnd()]);
    assert.deepEqual(shownPart(lane(state)).entries.map((entry) => entry.kind === "tool" && entry.state), ["ok", "cancelled"]);
  });

  test("retires what was sent and stands in it", () => {
    const sent = { type: "message.accepted", client_id: "c1", message_id: "m20", chat_id: LANE, seq: 1 } as const;
    assert.equal(play([ack(), queued("c1"), sent, asked(around), arrived(around, lines(15, 26), false, false)]).outbox.length, 0);
  });

  test("is not asked for what the end holds", () => {
    const own = lane(play(end));
    assert.deepEqual([89, 90, 95].map((order) => endHolds(own, order)), [false, true, true]);
    assert.ok(endHolds(lane(play([ack(), page(lines(90, 100))])), 3), "there is nothing older");
    assert.ok(!endHolds(lane(play([ack(), bubble("m1", 1)])), 1), "nobody knows");
  });
});

describe("a session in the past", () => {
  test("asks around a place, then after and before what it has, and leaves with what is new", () => {
    const { world, session, shown: now } = begun();
    welcome(world, { directory: [HOME, channel(1)] });
    const there = { chat_id: "android:chan_1" };
    const pages = () => world.socket.sent.flatMap((frame) => (frame.type === "history" && frame.chat_id === there.chat_id ? [frame] : []));
    const answer = (entries: Message[]) => world.socket.says(page(entries.map((entry) => ({ ...entry, ...there })), { ...there, client_id: pages().at(-1)?.client_id ?? "", has_more: true, has_newer: true }));
    session.openAt(there, 20);
    answer(lines(15, 25));
    session.loadNewer();
    session.loadNewer();
    answer(lines(26, 30));
    session.loadOlder();
    answer(lines(10, 14));
    assert.deepEqual(pages().map((frame) => [frame.around, frame.after, frame.before]), [[20, undefined, undefined], [undefined, 25, undefined], [undefined, undefined, 15]]);
    assert.deepEqual(places(shownPart(laneOf(now().state, there))).length, 21);
    session.showLatest();
    assert.deepEqual(Object.keys(pages().at(-1) ?? {}).filter((key) => ["around", "after", "before"].includes(key)), []);
  });

  test("asks again once it is connected", () => {
    const { world, session, shown: now } = begun();
    session.openAt(address, 20);
    assert.equal(lane(now().state).excerpt?.history, "failed");
    welcome(world, { mode: "resumed" });
    assert.partialDeepStrictEqual(world.socket.sent.at(-1), { type: "history", around: 20 });
  });
});

function dice(seed: number): () => number {
  let value = seed;
  return () => {
    value = (value * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return value / 4_294_967_296;
  };
}

/** Answers as the gateway would, from a store that grows meanwhile. */
function pageOf(store: readonly Message[], place: PagePlace | undefined, limit: number): HistoryPage {
  const at = (order: number): number => store.filter((line) => line.order < order).length;
  const [from, to] = place === undefined ? [store.length - limit, store.length]
    : "before" in place ? [at(place.before) - limit, at(place.before)]
    : "after" in place ? [at(place.after + 1), at(place.after + 1) + limit]
    : [at(place.around) - (limit >> 1), at(place.around) + (limit >> 1)];
  const [low, high] = [Math.max(0, from), Math.min(store.length, to)];
  return page(store.slice(low, high), { has_more: low > 0, has_newer: high < store.length });
}

test("whatever is asked and answered in whatever order, nothing is missing in a lane and nothing is there twice", () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = dice(seed);
    const some = (most: number): number => 1 + Math.floor(random() * most);
    const store: Message[] = [];
    const grow = (): Message => {
      const order = (store.at(-1)?.order ?? 0) + some(3);
      store.push(said(`m${order}`, order));
      return store.at(-1) as Message;
    };
    for (let left = some(60); left > 0; left--) grow();
    let state = play([ack()]);
    const underWay: Action[] = [];
    for (let step = 0; step < 60; step++) {
      const own = lane(state);
      const { excerpt } = own;
      const limit = 2 * some(4);
      const ask = (place: PagePlace): void => {
        state = play([asked(place)], state);
        underWay.push({ type: "local.excerptArrived", address, place, page: pageOf(store, place, limit) });
      };
      switch (some(8)) {
        case 1: state = play([grow()], state); break;
        case 2: if (own.history === "unknown") { state = play([{ type: "local.historyAsked", address }], state); underWay.push(pageOf(store, undefined, limit)); } break;
        case 3: ask({ around: store[some(store.length) - 1]?.order ?? 0 }); break;
        case 4: if (excerpt?.history === "loaded" && excerpt.hasNewer) ask({ after: excerpt.entries.at(-1)?.order ?? 0 }); break;
        case 5: if (excerpt?.history === "loaded" && excerpt.hasOlder) ask({ before: excerpt.entries[0]?.order ?? 0 }); break;
        case 6: if (some(4) === 1) state = play([{ type: "local.excerptClosed", address }], state); break;
        default: {
          const [answer] = underWay.splice(some(underWay.length || 1) - 1, 1);
          if (answer !== undefined) state = play([answer], state);
        }
      }
      const known = lane(state);
      for (const part of [known.history === "loaded" ? known.entries : [], known.excerpt?.entries ?? []]) {
        const from = store.findIndex((line) => line.message_id === part[0]?.id);
        const expected = store.slice(Math.max(0, from), Math.max(0, from) + part.length).map((line) => line.message_id);
        assert.deepEqual(part.map((entry) => entry.id), part.length === 0 ? [] : expected, `seed ${seed}, step ${step}`);
      }
      if (known.history === "loaded") assert.equal(known.entries.at(-1)?.id, store.at(-1)?.message_id, `seed ${seed}, step ${step}: the end is here`);
    }
  }
});
