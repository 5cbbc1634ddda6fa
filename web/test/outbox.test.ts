import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { Database, wipe } from "../src/database.ts";
import { draftOf, dropDraft, keepDrafts, wipeDrafts, writeDraft } from "../src/drafts.ts";
import { INITIAL_STATE } from "../src/model.ts";
import { restored, savedOf } from "../src/saved.ts";
import { Session } from "../src/session.ts";
import { Tabs } from "../src/tabs.ts";
import { ack, channel, HOME, ids, LANE, page, play, said } from "./frames.ts";
import { welcome, World } from "./world.ts";

const limit = 5_000;
let device = "";
let pages: Page[] = [];
let minted = 0;

/** One page of the browser: what it keeps is kept in the database that all pages of the device share. */
class Page {
  readonly world = new World();
  readonly session: Session;
  private readonly store: Database;
  private readonly tabs: Tabs;

  private constructor(store: Database, tabs: Tabs, contents: Awaited<ReturnType<Database["load"]>>) {
    this.store = store;
    this.tabs = tabs;
    const begin = restored(contents.saved, contents.rows.map((row) => ({ ...row.pending, elsewhere: true })), { chat_id: LANE });
    const identity = { id: device, token: "tok", name: "Test" };
    this.session = new Session(this.world, identity, () => `id-${++minted}`, () => undefined, begin, { store, tabs });
    this.session.start();
  }

  static async open(locks: LockManager | undefined = navigator.locks): Promise<Page> {
    const [store, tabs] = await Promise.all([Database.open(device, "b1"), Tabs.join(device, `page-${++minted}`, locks)]);
    const page = new Page(store, tabs, await store.load());
    pages.push(page);
    return page;
  }

  /** As a crash would: whatever is under way is not waited for. */
  close(): void {
    this.session.stop();
    this.tabs.close();
    this.store.close();
  }

  get sent(): (string | undefined)[] {
    return this.world.sockets.flatMap((socket) => socket.sent.map((frame) => (frame.type === "message.send" ? frame.text : undefined))).filter((text) => text !== undefined);
  }

  get outbox(): string[] {
    return this.session.current.outbox.map((row) => `${row.text} ${row.state}${row.elsewhere ? " elsewhere" : ""}`);
  }

  idOf(text: string): string {
    return this.session.current.outbox.find((row) => row.text === text)?.clientId ?? "";
  }
}

async function until(condition: () => boolean | Promise<boolean>, told: () => unknown = () => ""): Promise<void> {
  const end = Date.now() + limit;
  while (!(await condition())) {
    assert.ok(Date.now() < end, `it did not come to pass: ${JSON.stringify(told())}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function rows(): Promise<string[]> {
  const store = await Database.open(device, "b1");
  const texts = (await store.rows()).map((row) => row.pending.text);
  store.close();
  return texts;
}

const is = (page: Page, ...outbox: string[]): Promise<void> =>
  until(() => JSON.stringify(page.outbox) === JSON.stringify(outbox), () => page.outbox);

beforeEach(() => {
  device = `device-${++minted}`;
  pages = [];
});
afterEach(async () => {
  for (const page of pages) page.close();
  await wipe();
});

describe("the outbox", () => {
  test("survives a page that closes with nothing sent, and goes out once, in order, under the same ids", async () => {
    const before = await Page.open();
    before.session.send("one");
    before.session.send("two");
    const id = before.idOf("one");
    await until(async () => (await rows()).length === 2);
    before.close();
    const after = await Page.open();
    await is(after, "one pending", "two pending");
    assert.equal(after.idOf("one"), id);
    welcome(after.world);
    await until(() => after.sent.length === 1);
    after.world.socket.says({ type: "message.accepted", client_id: id, message_id: "m1", chat_id: LANE, seq: 1 });
    after.world.socket.says(said("m1", 1, { client_id: id, seq: 1 }));
    await until(() => after.sent.length === 2);
    assert.deepEqual(after.sent, ["one", "two"]);
    await until(async () => (await rows()).join() === "two");
  });

  test("writes a message down before it sends it", async () => {
    const page = await Page.open();
    welcome(page.world);
    page.session.send("one");
    assert.deepEqual([page.outbox, page.sent], [["one pending"], []]);
    await until(() => page.sent.length === 1);
    assert.deepEqual(await rows(), ["one"]);
  });

  test("keeps a refused message with its reason until the person decides", async () => {
    const before = await Page.open();
    welcome(before.world);
    before.session.send("one");
    before.session.send("two");
    await until(() => before.sent.length === 1);
    before.world.socket.says({ type: "error", code: "busy", message: "Later.", client_id: before.idOf("one") });
    await until(() => before.sent.length === 2);
    before.close();
    const after = await Page.open();
    await is(after, "one failed", "two pending");
    after.session.discard(after.idOf("one"));
    await is(after, "two pending");
    await until(async () => (await rows()).join() === "two");
  });

  test("of a message whose acceptance was seen and whose echo was not sends nothing twice", async () => {
    const before = await Page.open();
    welcome(before.world);
    before.session.send("one");
    await until(() => before.sent.length === 1);
    before.world.socket.says({ type: "message.accepted", client_id: before.idOf("one"), message_id: "m1", chat_id: LANE, seq: 1 });
    await until(async () => (await (await Database.open(device, "b1")).rows())[0]?.pending.state === "sent");
    before.close();
    const after = await Page.open();
    await is(after, "one sent");
    welcome(after.world, { seq: 1 });
    await is(after);
    assert.deepEqual(after.sent, [], "the page of the lane will have it");
    await until(async () => (await rows()).length === 0);
  });

  test("sends again what a log that began anew may have lost", async () => {
    const page = await Page.open();
    welcome(page.world);
    page.session.send("one");
    await until(() => page.sent.length === 1);
    page.world.socket.says({ type: "message.accepted", client_id: page.idOf("one"), message_id: "m1", chat_id: LANE, seq: 1 });
    page.world.socket.closes(1006);
    page.world.pass(1_000);
    welcome(page.world, { epoch: "e2", seq: 5 });
    await until(() => page.sent.length === 2);
  });

  test("stays with its lane, whatever is open when it goes out", async () => {
    const before = await Page.open();
    before.session.openLane({ chat_id: "android:chan_1" });
    before.session.send("one");
    await until(async () => (await rows()).length === 1);
    before.close();
    const after = await Page.open();
    welcome(after.world, { directory: [HOME, channel(1)] });
    await until(() => after.sent.length === 1);
    assert.partialDeepStrictEqual(after.world.socket.sent.at(-1), { type: "message.send", chat_id: "android:chan_1" });
  });
});

describe("two pages", () => {
  test("show the same, and only the one that wrote a message sends it", async () => {
    const [left, right] = [await Page.open(), await Page.open()];
    for (const page of [left, right]) welcome(page.world);
    left.session.send("one");
    await is(right, "one pending elsewhere");
    await until(() => left.sent.length === 1);
    const echo = said("m1", 1, { client_id: left.idOf("one"), seq: 1 });
    for (const page of [left, right]) page.world.socket.says(echo);
    await is(left);
    await is(right);
    assert.deepEqual(right.sent, []);
    await until(async () => (await rows()).length === 0);
  });

  test("hand over what one of them leaves behind, without a reload", async () => {
    const [left, right] = [await Page.open(), await Page.open()];
    welcome(right.world);
    left.session.send("one");
    await is(right, "one pending elsewhere");
    right.session.send("two");
    await until(() => right.sent.length === 1);
    left.close();
    await is(right, "one pending", "two pending");
    right.world.socket.says({ type: "message.accepted", client_id: right.idOf("two"), message_id: "m1", chat_id: LANE, seq: 1 });
    await until(() => right.sent.length === 2);
    assert.deepEqual(right.sent, ["two", "one"]);
  });

  test("clear away what another one left although it has arrived", async () => {
    const [left, right] = [await Page.open(), await Page.open()];
    for (const page of [left, right]) welcome(page.world);
    left.session.send("one");
    left.session.openLane({ chat_id: "android:chan_1" });
    left.session.send("two");
    await until(() => left.sent.length === 2);
    left.world.socket.says({ type: "message.accepted", client_id: left.idOf("one"), message_id: "m1", chat_id: LANE, seq: 1 });
    left.world.socket.says({ type: "message.accepted", client_id: left.idOf("two"), message_id: "m2", chat_id: "android:chan_1" });
    await is(right, "one sent elsewhere", "two sent elsewhere");
    left.close();
    right.world.socket.says(said("m1", 1, { seq: 1, client_id: right.idOf("one") }));
    await is(right);
    await until(async () => (await rows()).length === 0);
    assert.deepEqual(right.sent, []);
  });

  test("leave it to one of three to take over", async () => {
    const [left, middle, right] = [await Page.open(), await Page.open(), await Page.open()];
    left.session.send("one");
    for (const page of [middle, right]) await is(page, "one pending elsewhere");
    left.close();
    await until(() => [...middle.outbox, ...right.outbox].sort().join() === "one pending,one pending elsewhere", () => [middle.outbox, right.outbox]);
  });

  test("let a person retry and discard in either", async () => {
    const [left, right] = [await Page.open(), await Page.open()];
    welcome(left.world);
    left.session.send("one");
    await until(() => left.sent.length === 1);
    left.world.socket.says({ type: "error", code: "busy", message: "Later.", client_id: left.idOf("one") });
    await is(right, "one failed elsewhere");
    right.session.retry(right.idOf("one"));
    await until(() => left.sent.length === 2);
    left.world.socket.says({ type: "error", code: "busy", message: "Later.", client_id: left.idOf("one") });
    await is(right, "one failed elsewhere");
    right.session.discard(right.idOf("one"));
    await is(left);
    await is(right);
    assert.deepEqual(right.sent, []);
  });

  test("follow a thread only where its first message was written", async () => {
    const [left, right] = [await Page.open(), await Page.open()];
    const topic = { chat_id: LANE, thread_id: "t_1" };
    for (const page of [left, right]) welcome(page.world, { directory: [{ ...HOME, threads: true }] });
    left.session.send("Plan a trip");
    await is(right, "Plan a trip pending elsewhere");
    for (const page of [left, right]) page.world.socket.says(said("m1", 1, { ...topic, client_id: left.idOf("Plan a trip"), seq: 1 }));
    assert.deepEqual(left.session.current.openLane, topic);
    assert.deepEqual(right.session.current.openLane, { chat_id: LANE });
  });

  test("without locks each go alone, and what was left is sent by the next one that starts", async () => {
    const before = await Page.open(undefined);
    before.session.send("one");
    await until(async () => (await rows()).length === 1);
    before.close();
    await is(await Page.open(undefined), "one pending");
  });
});

describe("the database", () => {
  const state = play([ack(), page([said("m1", 1)]), said("m2", 2, { seq: 1 })]);
  const whole = { whole: true, ...savedOf(state), dropped: [] };

  test("brings back what was saved, and the rest only where it was dropped", async () => {
    const store = await Database.open(device, "b1");
    await store.save(whole);
    assert.deepEqual(ids(restored((await store.load()).saved, [], { chat_id: LANE })), ["m1", "m2"]);
    await store.save({ whole: false, parts: { seq: 2 }, lanes: {}, dropped: [LANE] });
    const { saved } = await store.load();
    assert.deepEqual([saved?.parts.seq, saved?.parts.epoch, saved?.lanes], [2, "e1", {}]);
    store.close();
  });

  test("writes all of a change or nothing of it", async () => {
    const store = await Database.open(device, "b1");
    await store.save(whole);
    const unstorable = { [LANE]: { ...savedOf(state).lanes[LANE], entries: [() => undefined] } } as never;
    await assert.rejects(store.save({ whole: false, parts: { seq: 9 }, lanes: unstorable, dropped: [] }));
    assert.equal((await store.load()).saved?.parts.seq, 1);
    store.close();
  });

  test("of another build gives the outbox only", async () => {
    const store = await Database.open(device, "b1");
    await store.save(whole);
    const [pending] = play([{ type: "local.queued", clientId: "c1", address: { chat_id: LANE }, text: "one", attachments: [], autoThread: false }], INITIAL_STATE).outbox;
    assert.ok(pending);
    await store.put({ owner: "p", pending });
    store.close();
    const newer = await Database.open(device, "b2");
    const { saved, rows: left } = await newer.load();
    assert.deepEqual([saved, left.map((row) => row.pending.text)], [undefined, ["one"]]);
    newer.close();
  });

  test("of an earlier pairing goes with it, also while a page has it open", async () => {
    const old = await Database.open(device, "b1");
    const present = await Database.open(`${device}-new`, "b1");
    await wipe(`${device}-new`);
    assert.deepEqual((await indexedDB.databases()).map(({ name }) => name), [`iris-${device}-new`]);
    await assert.rejects(old.rows());
    present.close();
  });
});

describe("drafts", () => {
  const storage = (): Storage => {
    const kept = new Map<string, string>();
    return {
      get length() { return kept.size; },
      key: (at) => [...kept.keys()][at] ?? null,
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
      clear: () => kept.clear(),
    };
  };
  const here = { chat_id: LANE };

  test("come back after a reload, each in its lane, with the report that they answer", () => {
    const kept = storage();
    let end = keepDrafts(kept);
    writeDraft(here, { text: "half a thought" });
    const report = { message_id: "r1", order: 1, role: "cron", name: "News", text: "Rain" } as const;
    writeDraft({ ...here, thread_id: "t_1" }, { answers: report });
    end();
    wipeDrafts();
    assert.equal(draftOf(here).text, "");
    end = keepDrafts(kept);
    assert.equal(draftOf(here).text, "half a thought");
    assert.deepEqual(draftOf({ ...here, thread_id: "t_1" }).answers, report);
    dropDraft(here);
    writeDraft({ ...here, thread_id: "t_1" }, { answers: undefined });
    assert.equal(kept.length, 0);
    end();
  });

  test("that cannot be read are empty, and go when the pairing ends", () => {
    const kept = storage();
    kept.setItem("other", "stays");
    kept.setItem(`iris.draft:${LANE}`, "{");
    const end = keepDrafts(kept);
    assert.equal(draftOf(here).text, "");
    writeDraft(here, { text: "secret" });
    wipeDrafts();
    assert.deepEqual([kept.length, kept.getItem("other")], [1, "stays"]);
    end();
  });
});
