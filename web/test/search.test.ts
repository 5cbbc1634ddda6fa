import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Hit } from "../src/model.ts";
import type { Outcome } from "../src/requests.ts";
import { Finder, NOTHING, SEARCH_PAUSE } from "../src/search.ts";
import type { Findings } from "../src/search.ts";
import { shortcutOf } from "../src/shortcuts.ts";
import { lanesLike, lanesToGo } from "../src/switcher.ts";
import { ack, channel, HOME, LANE, play, thread } from "./frames.ts";
import { World } from "./world.ts";

interface Asked {
  readonly query: string;
  readonly cursor: string | undefined;
  readonly finds: (texts: readonly string[], cursor?: string) => Promise<void>;
  readonly fails: (message: string) => Promise<void>;
}

function begun() {
  const world = new World();
  const asked: Asked[] = [];
  let shown: Findings = NOTHING;
  const hit = (text: string): Hit => ({ chat_id: LANE, message_id: text, order: 1, role: "user", snippet: [{ text }], ts: 1 });
  const settled = async (): Promise<void> => void (await new Promise((done) => setImmediate(done)));
  const finder = new Finder((delay, work) => world.after(delay, work), ({ query, cursor }) => new Promise<Outcome<"search">>((answer) => {
    asked.push({
      query, cursor,
      finds: (texts, next) => {
        answer({ ok: true, answer: { type: "search.results", client_id: "c", hits: texts.map(hit), ...(next === undefined ? {} : { cursor: next }) } });
        return settled();
      },
      fails: (message) => {
        answer({ ok: false, message });
        return settled();
      },
    });
  }), (findings) => (shown = findings));
  const type = (query: string): void => {
    finder.look({ query });
    world.pass(SEARCH_PAUSE);
  };
  return { world, finder, asked, type, shown: () => shown, texts: () => shown.hits.map((found) => found.message_id) };
}

describe("a search", () => {
  test("waits for a pause and asks once", () => {
    const { world, finder, asked } = begun();
    for (const query of ["h", "he", "hel "]) {
      finder.look({ query });
      world.pass(SEARCH_PAUSE - 1);
    }
    assert.deepEqual(asked, []);
    world.pass(1);
    assert.deepEqual(asked.map(({ query }) => query), ["hel"]);
  });

  test("drops an answer to what is not asked any more", async () => {
    const { asked, type, texts, shown } = begun();
    type("one");
    type("two");
    await asked[1]?.finds(["two"]);
    await asked[0]?.finds(["one"]);
    assert.deepEqual(texts(), ["two"]);
    type("three");
    assert.deepEqual([texts(), shown().state], [["two"], "searching"], "what was found stays until there is more");
    type("");
    await asked[2]?.finds(["three"]);
    assert.deepEqual(shown(), NOTHING);
  });

  test("goes on from page to page, and drops the page of another search", async () => {
    const { asked, type, texts, finder, shown } = begun();
    type("one");
    await asked[0]?.finds(["a"], "p2");
    finder.more();
    finder.more();
    await asked[1]?.finds(["b"]);
    finder.more();
    assert.deepEqual([texts(), asked.map(({ cursor }) => cursor)], [["a", "b"], [undefined, "p2"]]);
    type("two");
    await asked[2]?.finds(["c"], "p2");
    finder.more();
    type("three");
    await asked[3]?.finds(["late"]);
    await asked[4]?.finds(["d"]);
    assert.deepEqual([texts(), shown().more], [["d"], "idle"]);
  });

  test("says why it failed and can be tried again, as can a page", async () => {
    const { asked, type, texts, finder, shown } = begun();
    type("one");
    await asked[0]?.fails("Later.");
    assert.partialDeepStrictEqual(shown(), { state: "failed", failure: "Later." });
    finder.retry();
    await asked[1]?.finds(["a"], "p2");
    finder.more();
    await asked[2]?.fails("Later.");
    assert.partialDeepStrictEqual(shown(), { state: "found", more: "failed" });
    finder.retry();
    await asked[3]?.finds(["b"]);
    assert.deepEqual(texts(), ["a", "b"]);
    finder.retry();
    assert.equal(asked.length, 4);
  });

  test("that was closed hears nothing", async () => {
    const { asked, type, finder, shown } = begun();
    type("one");
    finder.stop();
    await asked[0]?.finds(["a"]);
    assert.equal(shown().state, "searching");
  });
});

test("a few letters find channels and threads: the beginning of a name first, then of a word, then anywhere", () => {
  const named = (number: number, name: string) => channel(number, { name });
  const directory = [HOME, named(1, "Big trees"), named(2, "Trésor"), named(3, "Entrée"), thread(4, "android:chan_1", { name: "Tree house" }), channel(5, { name: "Treetop", archived: true })];
  const names = (query: string) => lanesLike(directory, query).map((entry) => entry.name);
  assert.deepEqual(names("tre"), ["Tree house", "Trésor", "Big trees", "Entrée"]);
  for (const query of [" ", "role:tre", '"tre', "tre".repeat(9)]) assert.deepEqual(names(query), [], query);
});

test("without a letter, what has news comes first, and not where one is", () => {
  const topic = thread(9, "android:chan_1");
  const lanes = [{ chat_id: "android:chan_2", unread: 2 }, { chat_id: "android:chan_1", thread_id: "t_9", unread: 1 }];
  const state = play([ack({ directory: [HOME, channel(1), channel(2), channel(3), topic], lanes })]);
  assert.deepEqual(lanesToGo(state).map((entry) => entry.name), ["Thread 9", "Channel 2", "Channel 1", "Channel 3"]);
});

test("the keys of the search", () => {
  const press = (more: Partial<Parameters<typeof shortcutOf>[0]>) =>
    shortcutOf({ key: "", code: "", altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, ...more });
  assert.equal(press({ code: "KeyK", ctrlKey: true }), "switch");
  assert.equal(press({ code: "KeyK", metaKey: true }), "switch");
  assert.equal(press({ code: "KeyF", ctrlKey: true }), "searchHere");
  assert.equal(press({ code: "KeyF", ctrlKey: true, shiftKey: true }), "searchAll");
  for (const other of [{ code: "KeyF" }, { code: "KeyF", altKey: true, ctrlKey: true }, { code: "KeyK", ctrlKey: true, shiftKey: true }]) assert.equal(press(other), undefined);
});
