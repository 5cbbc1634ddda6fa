import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { carryDraft, draftOf, dropDraft, writeDraft } from "../src/drafts.ts";
import { sentence } from "../src/format.ts";
import { menuOf } from "../src/lane-menu.ts";
import { LONG_PRESS, LongPress } from "../src/long-press.ts";
import { menuMove } from "../src/menu-keys.ts";
import { addressIn, fragmentOf } from "../src/place.ts";
import { shortcutOf } from "../src/shortcuts.ts";
import { channel, HOME, LANE, thread } from "./frames.ts";

describe("a lane in the address bar", () => {
  test("is read as it is written", () => {
    for (const address of [{ chat_id: LANE }, { chat_id: "android:chan_7" }, { chat_id: LANE, thread_id: "t_31" }]) {
      assert.deepEqual(addressIn(fragmentOf(address)), address);
    }
    assert.equal(fragmentOf({ chat_id: LANE, thread_id: "t_31" }), "#/default/t_31");
    assert.deepEqual(addressIn("#/chan_7"), { chat_id: "android:chan_7" });
  });

  test("is nothing where there is none", () => {
    for (const hash of ["", "#", "#/", "#pair=abc", "#/a/b/c", "#/a b", "#/default/", "#/%2e", "#/a:b"]) assert.equal(addressIn(hash), undefined, hash);
  });
});

describe("the menu", () => {
  const labels = ["Rename", "Set as default", "Automation", "Set as cron target…", "Delete"];
  const key = (name: string, more: Partial<Parameters<typeof menuMove>[0]> = {}) => ({ key: name, ctrlKey: false, altKey: false, metaKey: false, ...more });
  const to = (name: string, from: number) => {
    const move = menuMove(key(name), from, labels);
    return move.kind === "focus" ? move.index : move.kind;
  };

  test("arrows go round, Home and End to the ends, Escape and Tab out", () => {
    assert.deepEqual([to("ArrowDown", 0), to("ArrowDown", 4), to("ArrowUp", 0), to("ArrowUp", 3)], [1, 0, 4, 2]);
    assert.deepEqual([to("ArrowDown", -1), to("ArrowUp", -1), to("Home", 3), to("End", 0)], [0, 4, 0, 4]);
    assert.deepEqual([to("Escape", 0), to("Tab", 0)], ["close", "close"]);
  });

  test("a letter goes to the next item that begins with it", () => {
    assert.deepEqual([to("s", 0), to("s", 1), to("S", 3), to("d", 0), to("r", 0), to("x", 0)], [1, 3, 1, 4, 0, "none"]);
    assert.equal(menuMove(key("s", { ctrlKey: true }), 0, labels).kind, "none");
  });

  test("Enter and Space are left to the item", () => {
    assert.deepEqual([to("Enter", 0), to(" ", 0)], ["none", "none"]);
  });

  test("offers what fits", () => {
    const deeds = (entry: Parameters<typeof menuOf>[0]) => menuOf(entry).map((item) => item.deed);
    assert.deepEqual(deeds(HOME), ["rename", "setThreads", "setTarget"]);
    assert.deepEqual(deeds({ ...HOME, threads: true }), ["rename", "newTopic", "setThreads", "setTarget"]);
    assert.deepEqual(deeds(channel(1)), ["rename", "setDefault", "setAutomation", "setTarget", "delete"]);
    assert.deepEqual(deeds(channel(1, { automation: true })), ["rename", "setAutomation", "setTarget", "delete"]);
    assert.deepEqual(deeds(thread(1, LANE)), ["rename", "setTarget", "delete"]);
  });

  test("says what is on", () => {
    const checked = (entry: Parameters<typeof menuOf>[0]) => menuOf(entry).flatMap((item) => item.checked ?? []);
    assert.deepEqual([checked(HOME), checked({ ...HOME, threads: true }), checked(channel(1, { automation: true }))], [[false], [true], [true]]);
  });
});

test("shortcuts: Alt with the arrows, Alt or Ctrl with T, and nothing else held", () => {
  const press = (more: Partial<Parameters<typeof shortcutOf>[0]>) =>
    shortcutOf({ key: "", code: "", altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, ...more });
  assert.equal(press({ key: "ArrowUp", altKey: true }), "previousChannel");
  assert.equal(press({ key: "ArrowDown", altKey: true }), "nextChannel");
  assert.equal(press({ key: "†", code: "KeyT", altKey: true }), "newTopic");
  assert.equal(press({ key: "t", code: "KeyT", ctrlKey: true }), "newTopic");
  for (const other of [{ code: "KeyT" }, { code: "KeyT", ctrlKey: true, shiftKey: true }, { code: "KeyT", ctrlKey: true, altKey: true }, { key: "ArrowUp", ctrlKey: true }, { key: "ArrowUp" }]) {
    assert.equal(press(other), undefined);
  }
});

test("a long press is a finger that stays", () => {
  let fire: (() => void) | undefined;
  const held: number[] = [];
  const press = new LongPress((delay, work) => {
    assert.equal(delay, LONG_PRESS);
    fire = work;
    return () => (fire = undefined);
  }, (x) => held.push(x));
  press.down(10, 10);
  press.move(14, 12);
  fire?.();
  assert.deepEqual(held, [10]);
  press.down(20, 10);
  press.move(20, 40);
  assert.equal(fire, undefined);
  press.down(30, 10);
  press.up();
  assert.equal(fire, undefined);
});

test("a draft goes along with the message before it, and never over another draft", () => {
  const [flat, topic] = [{ chat_id: LANE }, { chat_id: LANE, thread_id: "t_1" }];
  writeDraft(flat, { text: "and one more thing" });
  carryDraft(flat, topic);
  assert.deepEqual([draftOf(flat).text, draftOf(topic).text], ["", "and one more thing"]);
  writeDraft(flat, { text: "other" });
  carryDraft(flat, topic);
  assert.deepEqual([draftOf(flat).text, draftOf(topic).text], ["other", "and one more thing"]);
  writeDraft(flat, { answers: { message_id: "r1", order: 1, role: "cron", name: "nightly", text: "Done" } });
  dropDraft(flat);
  assert.deepEqual(draftOf(flat), { text: "", answers: undefined, edits: undefined });
});

test("an error names a field as a person knows it", () => {
  assert.equal(sentence("$.name “Travel” is taken"), "The name “Travel” is taken.");
  assert.equal(sentence("$.chat_id is the default channel, which cannot be deleted"), "The channel is the default channel, which cannot be deleted.");
});
