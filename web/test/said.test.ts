import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { meaningOf } from "../src/composer.ts";
import { draftOf, dropDraft, stepBack, writeDraft } from "../src/drafts.ts";
import { excerptOf } from "../src/excerpts.ts";
import { deedsFor, lastWord } from "../src/message-menu.ts";
import type { Around } from "../src/message-menu.ts";
import { laneOf } from "../src/model.ts";
import type { Action, State } from "../src/model.ts";
import { COMMANDS, commandsLike } from "../src/palette.ts";
import { fragmentOf, placeIn } from "../src/place.ts";
import { plainText } from "../src/plain-text.ts";
import type { Message } from "../src/protocol/frames.ts";
import { rowsOf } from "../src/rows.ts";
import type { Row } from "../src/rows.ts";
import { keysOf, SHORTCUTS, shortcutOf } from "../src/shortcuts.ts";
import type { Press } from "../src/shortcuts.ts";
import { isSpoken, subjectOf } from "../src/subjects.ts";
import type { SpokenRow } from "../src/subjects.ts";
import { later } from "../src/words/later.ts";
import { done, LANE, page, play, queued, said, toolEnd, toolStart, turnEnd, turnStart } from "./frames.ts";
import { begun, welcome } from "./world.ts";

const here = { chat_id: LANE };
const lane = (state: State) => laneOf(state, here);
const rows = (state: State, unfolded?: ReadonlySet<string>): Row[] => rowsOf(lane(state), here, state.outbox, undefined, unfolded);
const keys = (state: State, unfolded?: ReadonlySet<string>): string[] => rows(state, unfolded).map((row) => row.key);
const hidden = (id: string): Action => ({ type: "message.hidden", message_id: id, chat_id: LANE });
const shown = (message: Message): Action => ({ type: "message.shown", message });
const refused = (clientId: string): Action => ({ type: "error", code: "conflict", message: "no", client_id: clientId, retryable: false });
const loaded = page([], { has_more: false });

describe("a hidden message", () => {
  const answer = said("a1", 20, { role: "assistant", text: "An answer." });

  test("is gone from the lane, and is not unread", () => {
    const state = play([loaded, said("m1", 10), answer, hidden("a1"), hidden("a1")]);
    assert.deepEqual(lane(state).entries.map(({ id }) => id), ["m1"]);
    assert.deepEqual(state.unread, {});
  });

  test("comes back in its place, once", () => {
    const state = play([loaded, said("m1", 10), answer, said("m2", 30), hidden("a1"), shown(answer), shown(answer)]);
    assert.deepEqual(lane(state).entries.map(({ id }) => id), ["m1", "a1", "m2"]);
    assert.deepEqual(state.unread, { [LANE]: 1 });
  });

  test("that stands before all that is loaded comes with its page, and makes no gap", () => {
    const state = play([page([said("m5", 50)], { has_more: true }), shown(said("m1", 10)), shown(said("m6", 60))]);
    assert.deepEqual(lane(state).entries.map(({ id }) => id), ["m5", "m6"]);
    assert.deepEqual(lane(play([shown(said("m1", 10))])).entries, []);
  });

  test("goes from an older part of the lane, too, and comes back there", () => {
    const place = { around: 15 };
    const part = page([said("m1", 10), said("m2", 20), said("m3", 30)], { has_more: true, has_newer: true });
    const inPast: Action[] = [
      page([said("m9", 90)], { has_more: true }),
      { type: "local.excerptAsked", address: here, place },
      { type: "local.excerptArrived", address: here, place, page: part },
      hidden("m2"),
    ];
    const ids = (state: State) => lane(state).excerpt?.entries.map(({ id }) => id);
    assert.deepEqual(ids(play(inPast)), ["m1", "m3"]);
    assert.deepEqual(ids(play([...inPast, shown(said("m2", 20)), shown(said("m0", 5)), shown(said("m5", 50))])), ["m1", "m2", "m3"]);
  });
});

describe("what was taken back", () => {
  const begin: Action[] = [
    loaded, said("m1", 10, { text: "Helo" }), turnStart(), toolStart("c1", 12), toolEnd("c1"), done("a1", 14, "What?"), turnEnd(),
    said("r1", 15, { role: "cron", text: "Rain" }),
  ];

  test("is folded up with what it led to, but for reports, and opens where it stood", () => {
    const state = play([...begin, said("m2", 20, { text: "Hello", replaces: "m1" })]);
    assert.deepEqual(keys(state), ["fold-m2", "r1", "m2"]);
    const [fold] = rows(state);
    assert.ok(fold?.kind === "fold" && fold.count === 1 && !fold.open && fold.holds.includes("a1"));
    const open = rows(state, new Set(["fold-m2"]));
    assert.deepEqual(open.map(({ key }) => key), ["fold-m2", "m1", "c1", "a1", "footer-t1", "r1", "m2"]);
    assert.deepEqual(open.filter((row) => row.past).map(({ key }) => key), ["m1", "c1", "a1", "footer-t1"]);
  });

  test("twice is one fold", () => {
    const state = play([...begin, said("m2", 20, { replaces: "m1" }), said("a2", 25, { role: "assistant" }), said("m3", 30, { replaces: "m2" })]);
    assert.deepEqual(keys(state), ["fold-m3", "r1", "m3"]);
    const [fold] = rows(state);
    assert.ok(fold?.kind === "fold" && fold.count === 2);
  });

  test("is folded up as soon as the new message is written, and not if that is refused", () => {
    const state = play([...begin, queued("c9", { text: "Hello", replaces: "m1" })]);
    assert.deepEqual(keys(state), ["fold-c9", "r1", "c9"]);
    assert.deepEqual(keys(play([...begin, queued("c9", { replaces: "m1" }), said("m2", 20, { replaces: "m1", client_id: "c9" })])), ["fold-c9", "r1", "c9"]);
    assert.ok(keys(play([...begin, queued("c9", { replaces: "m1" }), refused("c9")])).includes("a1"));
  });

  test("and is older than what is loaded is folded as far as it is loaded", () => {
    const later = [said("a1", 14, { role: "assistant" }), said("m2", 20, { replaces: "m1" })];
    assert.deepEqual(keys(play([page(later, { has_more: true })])), ["fold-m2", "m2"]);
    assert.deepEqual(keys(play([page(later, { has_more: false })])), ["a1", "footer-a1", "m2"].filter((key) => key !== "footer-a1"), "a hidden one leaves its answer");
  });

  test("is asked no more: Retry says the last message, in its place", () => {
    const failed = play([loaded, said("m1", 10), turnStart(), turnEnd("t1", { outcome: "failure", error: "500" })]);
    const footer = rows(failed).at(-1);
    assert.ok(footer?.kind === "footer" && footer.footer.retry?.id === "m1");
  });
});

describe("the menu of a message", () => {
  const plain: Around = { isRoom: false, readOnly: false, gone: false, last: undefined, busy: false, touch: false };
  const state = play([loaded, said("m1", 10), said("a1", 20, { role: "assistant", text: "An **answer**." }), said("m2", 30), said("a2", 40, { role: "assistant" })]);
  const last = lastWord(rows(state));
  const deeds = (key: string, around: Partial<Around> = {}, of: State = state): readonly string[] => {
    const row = rows(of).find((candidate) => candidate.key === key);
    return row === undefined || !isSpoken(row) ? [] : deedsFor(subjectOf(row), { ...plain, last, ...around });
  };

  test("offers what can be done with it where it stands", () => {
    assert.deepEqual(deeds("m1"), ["reply", "copy", "link", "hide"]);
    assert.deepEqual(deeds("a1"), ["reply", "copy", "copyMarkdown", "link", "hide"]);
    assert.deepEqual(deeds("m2"), ["reply", "edit", "retry", "copy", "link", "hide"]);
    assert.deepEqual(deeds("a2"), ["reply", "retry", "copy", "copyMarkdown", "link", "hide"]);
    assert.deepEqual(deeds("m2", { busy: true }), ["reply", "edit", "copy", "link", "hide"], "what is asked can be put right while it is answered");
    assert.deepEqual(deeds("m2", { isRoom: true }), ["copy", "link", "hide"]);
    assert.deepEqual(deeds("m1", { gone: true, touch: true }), ["copy", "select", "link", "hide"]);
    assert.deepEqual(deeds("m1", { readOnly: true }), ["copy", "link", "hide"]);
  });

  test("offers the answer to a report where nothing else is written, and little of what has not arrived", () => {
    const reports = play([loaded, said("r1", 10, { role: "cron", job: { id: "j", name: "News" } }), queued("c1"), refused("c1")]);
    assert.deepEqual(deeds("r1", { readOnly: true }, reports), ["reply", "copy", "copyMarkdown", "link", "hide"]);
    assert.deepEqual(deeds("c1", {}, reports), ["copy", "discard"]);
    assert.deepEqual(subjectOf(rows(reports)[0] as SpokenRow).quote, { message_id: "r1", order: 10, role: "cron", name: "News", text: "text of r1" });
    const live = play([loaded, turnStart(), { ...said("x", 1), type: "message.start", turn_id: "t1", role: "assistant" } as Action, { type: "message.update", message_id: "x", text: "Half" }]);
    assert.deepEqual(deeds("x", {}, live), [], "nothing is done with half an answer");
  });

  test("takes nothing back that is no last word", () => {
    assert.equal(last?.id, "m2");
    assert.equal(lastWord(rows(play([loaded, said("m1", 10), said("m2", 20, { text: "/new" })]))), undefined);
    assert.equal(lastWord(rows(play([loaded, said("m1", 10), queued("c1")]))), undefined);
    assert.equal(lastWord([]), undefined);
  });
});

test("a message is named by its place in its lane", () => {
  for (const order of [undefined, 1700000000250000]) {
    for (const address of [here, { chat_id: LANE, thread_id: "t_31" }]) assert.deepEqual(placeIn(fragmentOf(address, order)), { address, order });
  }
  assert.equal(fragmentOf({ chat_id: LANE, thread_id: "t_31" }, 17), "#/default/t_31@17");
  for (const hash of ["#/default@", "#/default@x", "#/default@1@2", "#@1", "#/default@12345678901234567"]) assert.equal(placeIn(hash), undefined, hash);
});

test("what is said travels with what it answers and replaces", () => {
  const { world, session } = begun();
  welcome(world);
  const quote = { message_id: "a1", order: 5, role: "assistant", text: "An answer." } as const;
  session.send("Why?", { quote, replaces: "m1" });
  assert.partialDeepStrictEqual(world.socket.sent.at(-1), { type: "message.send", text: "Why?", reply_to: "a1", replaces: "m1" });
  world.socket.says({ type: "message.accepted", client_id: "id-2", message_id: "m2", chat_id: LANE, seq: 1 });
  session.send("Plain");
  const plain = world.socket.sent.at(-1) ?? {};
  assert.ok(!("reply_to" in plain) && !("replaces" in plain));
});

test("a message is written anew over what was being written, and left without a trace", () => {
  const quote = { message_id: "a1", order: 5, role: "assistant", text: "An answer." } as const;
  writeDraft(here, { text: "half a thought", answers: quote });
  const before = { text: "half a thought", answers: quote };
  writeDraft(here, { text: "old words", answers: undefined, edits: { id: "m1", attachments: [], before } });
  assert.ok(stepBack(here));
  assert.deepEqual(draftOf(here), { ...before, edits: undefined });
  assert.ok(stepBack(here));
  assert.deepEqual([draftOf(here).text, draftOf(here).answers], ["half a thought", undefined]);
  assert.ok(!stepBack(here));
  dropDraft(here);
});

test("an excerpt is the first line that says something", () => {
  assert.equal(excerptOf("\n## **The plan**: `du`.\n\nOne"), "The plan: du.");
  assert.equal(excerptOf("", [{ id: "f", name: "plan.pdf", type: "application/pdf", size: 1, kind: "document" }]), "plan.pdf");
  assert.equal([...excerptOf("🌷".repeat(400))].length, 160);
});

test("Markdown is copied as a person would type it", () => {
  const source = "# Plan\n\nA **bold** `word`, [a link](https://a.example) and <https://b.example>.\nNext &amp; line\n\n- one\n  - *two*\n- three\n\n"
    + "3. a\n4. b\n\n> said\n\n```py\nx = 1 * 2\n```\n\n| a | b |\n|---|---|\n| 1 | **2** |\n\n---\n\n![A cat](https://c.example/cat.png)";
  assert.equal(plainText(source), [
    "Plan", "A bold word, a link (https://a.example) and https://b.example.\nNext &amp; line", "• one\n  • two\n• three", "3. a\n4. b", "said",
    "x = 1 * 2", "a\tb\n1\t2", "—", "A cat",
  ].join("\n\n"));
});

describe("the keys", () => {
  const press = (more: Partial<Press>): Press => ({ key: "", code: "", altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, ...more });

  test("are all named, grouped and drawn", () => {
    const { groups, names } = later.value.keys;
    assert.deepEqual(Object.keys(groups), Object.keys(SHORTCUTS));
    const all = Object.values(SHORTCUTS).flatMap((group) => Object.keys(group));
    assert.deepEqual(Object.keys(names).toSorted(), all.toSorted());
    assert.deepEqual(keysOf("searchAll", "sends", false), [["Ctrl", "Shift", "F"]]);
    assert.deepEqual(keysOf("switch", "sends", true), [["⌘", "K"]]);
    assert.deepEqual([keysOf("send", "sends", false), keysOf("send", "breaks", false)], [[["Enter"]], [["Ctrl", "Enter"]]]);
  });

  test("do what the sheet says", () => {
    assert.equal(shortcutOf(press({ key: "?", shiftKey: true })), "help");
    assert.equal(shortcutOf(press({ key: "?" })), "help", "on a keyboard that has it without Shift");
    assert.equal(shortcutOf(press({ key: "/", ctrlKey: true })), "help");
    assert.equal(shortcutOf(press({ key: "Escape" })), "back");
    assert.equal(shortcutOf(press({ key: "?", altKey: true })), undefined);
    const typed = { ...press({ key: "ArrowUp" }), isComposing: false, keyCode: 0 };
    assert.deepEqual([meaningOf(typed, "", "sends"), meaningOf(typed, "x", "sends"), meaningOf({ ...typed, isComposing: true }, "", "sends")], ["recall", "none", "none"]);
  });
});

test("the palette knows what can be done by the beginning of a word", () => {
  assert.deepEqual(commandsLike("the"), ["themeLight", "themeDark", "themeSystem"]);
  assert.deepEqual(commandsLike("dark"), ["themeDark"]);
  assert.deepEqual(commandsLike("New"), ["newChannel", "newTopic"]);
  for (const query of ["", " ", "n", "hannel", "zzz"]) assert.deepEqual(commandsLike(query), [], query);
  for (const command of COMMANDS) assert.ok(commandsLike(later.value.commands[command]).includes(command));
});
