import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { beginsThread, channelsInOrder, groupsOf, homeOf, isThere, neighbour, nearestTo, threadsOf, topicsOf, withEntry } from "../src/directory.ts";
import { laneKey } from "../src/model.ts";
import type { Action, Channel, State } from "../src/model.ts";
import type { ChannelCreated, ChannelDeleted, ChannelRenamed } from "../src/protocol/frames.ts";
import { reduce } from "../src/state.ts";
import { ack, channel, created, deleted, HOME, LANE, NOW, page, play, renamed, said, thread } from "./frames.ts";

const names = (entries: readonly Channel[]): string[] => entries.map((entry) => entry.name);
const open = (state: State): string => laneKey(state.openLane);
const opening = (address: { chat_id: string; thread_id?: string }): Action => ({ type: "local.laneOpened", address });

test("a whole entry takes the place of what was known, and touches nothing else", () => {
  const [a, b, t] = [channel(1), channel(2), thread(1, "android:chan_1")];
  const next = withEntry([a, b, t], { ...a, name: "New", threads: true });
  assert.deepEqual(next, [{ ...a, name: "New", threads: true }, b, t]);
  assert.equal(next[1], b);
  assert.equal(withEntry([a], { ...t, chat_id: a.chat_id }).length, 2);
});

test("there is one default channel at any moment", () => {
  const directory = withEntry([HOME, channel(1)], { ...channel(1), is_default: true });
  assert.deepEqual(directory.filter((entry) => entry.is_default).map(laneKey), ["android:chan_1"]);
  assert.equal(homeOf([{ ...HOME, is_default: false }, channel(1)])?.chat_id, LANE);
});

test("the column: default, channels, automation, rooms, without threads and what is deleted", () => {
  const directory = [
    channel(4, { kind: "room" }), channel(2, { automation: true }), channel(3), channel(1), HOME,
    channel(5, { archived: true }), thread(6, LANE),
  ];
  const { home, channels, automation, rooms } = groupsOf(directory);
  assert.equal(home, HOME);
  assert.deepEqual([channels, automation, rooms].map(names), [["Channel 1", "Channel 3"], ["Channel 2"], ["Channel 4"]]);
  assert.deepEqual(names(channelsInOrder(directory)), ["Default", "Channel 1", "Channel 3", "Channel 2", "Channel 4"]);
});

test("the neighbour of a channel goes round the ends, and a thread counts as its channel", () => {
  const directory = [HOME, channel(1), channel(2)];
  assert.equal(neighbour(directory, { chat_id: LANE }, -1)?.name, "Channel 2");
  assert.equal(neighbour(directory, { chat_id: "android:chan_2" }, 1)?.name, "Default");
  assert.equal(neighbour(directory, { chat_id: LANE, thread_id: "t_1" }, 1)?.name, "Channel 1");
});

test("threads come newest first", () => {
  assert.deepEqual(names(threadsOf([thread(1, LANE), thread(3, LANE), thread(2, LANE), thread(4, LANE, { archived: true }), thread(5, "android:x")], LANE)), ["Thread 3", "Thread 2", "Thread 1"]);
});

test("a thread of a deleted channel is not there", () => {
  const directory = [HOME, channel(1, { archived: true }), thread(1, "android:chan_1")];
  assert.ok(!isThere(directory, { chat_id: "android:chan_1", thread_id: "t_1" }));
  assert.deepEqual(nearestTo(directory, { chat_id: "android:chan_1", thread_id: "t_1" }), { chat_id: LANE });
  assert.deepEqual(nearestTo(directory, { chat_id: LANE, thread_id: "t_9" }), { chat_id: LANE });
});

describe("topics", () => {
  const split = { ...HOME, threads: true };
  const under = (directory: Channel[], address: { chat_id: string; thread_id?: string } = { chat_id: LANE }): State =>
    play([ack({ directory }), opening(address)]);

  test("are offered in the split default channel, with or without threads", () => {
    assert.deepEqual(topicsOf(under([split])), []);
    assert.equal(topicsOf(under([HOME])), undefined);
    assert.equal(topicsOf(under([{ ...channel(1), threads: true }], { chat_id: "android:chan_1" })), undefined);
  });

  test("of another channel are shown as soon as the gateway opened one", () => {
    const state = under([HOME, channel(1), thread(1, "android:chan_1")], { chat_id: "android:chan_1" });
    assert.deepEqual(names(topicsOf(state) ?? []), ["Thread 1"]);
  });

  test("of a default channel that is not split come up only when one is open or unread", () => {
    const address = { chat_id: LANE, thread_id: "t_1" };
    const directory = [HOME, thread(1, LANE)];
    assert.equal(topicsOf(under(directory)), undefined);
    assert.deepEqual(names(topicsOf(under(directory, address)) ?? []), ["Thread 1"]);
    const unread = play([said("m1", 1, { ...address, role: "cron" })], under(directory));
    assert.deepEqual(names(topicsOf(unread) ?? []), ["Thread 1"]);
  });

  test("begin with a message in the flat lane of the split default channel", () => {
    const flat = { chat_id: LANE };
    assert.ok(beginsThread([split], flat, "Plan a trip"));
    assert.ok(!beginsThread([split], flat, "/new"));
    assert.ok(!beginsThread([split], flat, "  "));
    assert.ok(!beginsThread([HOME], flat, "Plan a trip"));
    assert.ok(!beginsThread([split, thread(1, LANE)], { chat_id: LANE, thread_id: "t_1" }, "Plan a trip"));
    assert.ok(!beginsThread([split, channel(1, { threads: true })], { chat_id: "android:chan_1" }, "Plan a trip"));
    assert.ok(!beginsThread([], flat, "Plan a trip"));
  });
});

describe("the open lane", () => {
  const [trip, topic] = [channel(1), thread(1, LANE)];
  const start = play([ack({ directory: [{ ...HOME, threads: true }, trip, topic] })]);

  test("falls back to its channel, and that to the default one", () => {
    const inTopic = play([opening(topic)], start);
    assert.equal(open(play([deleted(topic)], inTopic)), LANE);
    const inTrip = play([opening(trip)], start);
    assert.equal(open(play([deleted(trip)], inTrip)), LANE);
    const inThread = play([created(thread(2, trip.chat_id)), opening(thread(2, trip.chat_id)), deleted(trip)], start);
    assert.equal(open(inThread), LANE);
  });

  test("stays when something else is deleted, renamed or comes back", () => {
    const inTopic = play([opening(topic)], start);
    assert.equal(open(play([deleted(trip), created(trip), renamed({ ...topic, name: "New" })], inTopic)), `${LANE}/t_1`);
  });

  test("goes flat when threads are switched off, and only then", () => {
    const inTopic = play([opening(topic)], start);
    assert.equal(open(play([renamed({ ...HOME, threads: true, name: "Home" })], inTopic)), `${LANE}/t_1`);
    const flat = play([renamed({ ...HOME, threads: false })], inTopic);
    assert.equal(open(flat), LANE);
    assert.equal(open(play([opening(topic), renamed({ ...HOME, threads: false, cron_jobs: 2 })], flat)), `${LANE}/t_1`);
  });

  test("may be named by an answer before its event comes", () => {
    const early = play([opening({ chat_id: LANE, thread_id: "t_8" }), renamed({ ...HOME, threads: true, cron_jobs: 1 }), deleted(topic)], start);
    assert.equal(open(early), `${LANE}/t_8`);
    assert.equal(open(play([ack({ directory: [HOME] })], early)), LANE);
  });
});

test("a resumption merges what the gateway tells, and keeps what it leaves out", () => {
  const before = play([ack({ directory: [HOME, channel(1), channel(2)] })]);
  const after = play([ack({ mode: "resumed", directory: [HOME, { ...channel(1), name: "Renamed" }] })], before);
  assert.deepEqual(names(after.directory), ["Default", "Renamed", "Channel 2"]);
  assert.deepEqual(names(play([ack({ directory: [HOME] })], before).directory), ["Default"]);
});

/** A small world with a gateway's rules: it makes events, and can tell the whole directory at any moment. */
class Gateway {
  readonly entries = new Map<string, Channel>([[laneKey(HOME), HOME]]);
  readonly log: (ChannelCreated | ChannelRenamed | ChannelDeleted)[] = [];
  private minted = 0;
  private readonly random: () => number;
  constructor(random: () => number) {
    this.random = random;
  }
  private say(type: "channel.created" | "channel.renamed" | "channel.deleted", entry: Channel): void {
    this.entries.set(laneKey(entry), entry);
    this.log.push({ type, seq: this.log.length + 1, channel: entry });
  }
  private any(list: readonly Channel[]): Channel | undefined {
    return list[Math.floor(this.random() * list.length)];
  }
  step(): void {
    const all = [...this.entries.values()];
    const present = all.filter((entry) => !entry.archived);
    const entry = this.any(present) ?? HOME;
    const flat = entry.thread_id === undefined;
    switch (Math.floor(this.random() * 8)) {
      case 0: return this.say("channel.created", channel(++this.minted));
      case 1: return this.say("channel.created", thread(++this.minted, entry.chat_id));
      case 2: return this.say("channel.renamed", { ...entry, name: `Name ${++this.minted}`, name_source: "user" });
      case 3: return entry.is_default ? undefined : this.say("channel.deleted", { ...entry, archived: true });
      case 4: {
        const gone = this.any(all.filter((candidate) => candidate.archived));
        return gone && this.say("channel.created", { ...gone, archived: false });
      }
      case 5: return this.say("channel.renamed", { ...entry, cron_jobs: Math.floor(this.random() * 3) });
      case 6: {
        const home = present.find((candidate) => candidate.is_default);
        if (!flat || entry.automation || home === undefined || home === entry) return;
        this.say("channel.renamed", { ...home, is_default: false });
        return this.say("channel.renamed", { ...entry, is_default: true });
      }
      default: return flat ? this.say("channel.renamed", entry.is_default ? { ...entry, threads: !entry.threads } : { ...entry, automation: !entry.automation }) : undefined;
    }
  }
  snapshot(): Channel[] {
    return [...this.entries.values()];
  }
}

function dice(seed: number): () => number {
  let value = seed;
  return () => {
    value = (value * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return value / 4_294_967_296;
  };
}

test("a snapshot and the events after it equal a fresh snapshot", () => {
  const sorted = (directory: readonly Channel[]): Channel[] =>
    [...directory].sort((a, b) => (laneKey(a) < laneKey(b) ? -1 : 1)).map((entry) => ({ ...entry, is_default: entry.is_default ?? false }));
  for (let seed = 1; seed <= 300; seed++) {
    const random = dice(seed);
    const gateway = new Gateway(random);
    for (let at = 0; at < 12; at++) gateway.step();
    const place = gateway.log.length;
    let state = play([ack({ directory: gateway.snapshot(), seq: place })]);
    for (let at = 0; at < 40; at++) gateway.step();
    const events = gateway.log.slice(place);
    for (const [at, event] of events.entries()) {
      state = reduce(state, event, NOW);
      // A repeated event, a page of history and a look elsewhere change nothing of the directory.
      if (random() < 0.3) state = reduce(state, gateway.log[Math.floor(random() * (place + at + 1))] ?? event, NOW);
      if (random() < 0.2) state = reduce(state, page([said(`m${at}`, at)], { chat_id: event.channel.chat_id }), NOW);
      if (random() < 0.2 && isThere(state.directory, event.channel)) state = reduce(state, opening(event.channel), NOW);
      if (random() < 0.1) state = reduce(state, ack({ mode: "resumed", directory: gateway.snapshot(), seq: gateway.log.length }), NOW);
    }
    const fresh = play([ack({ directory: gateway.snapshot(), seq: gateway.log.length })]);
    assert.deepEqual(sorted(state.directory), sorted(fresh.directory), `seed ${seed}`);
    assert.deepEqual(channelsInOrder(state.directory).map(laneKey), channelsInOrder(fresh.directory).map(laneKey), `seed ${seed}`);
    assert.equal(state.seq, fresh.seq);
    assert.ok(isThere(state.directory, state.openLane), `seed ${seed}: ${open(state)} is open and gone`);
  }
});
