import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { menuOf } from "../src/lane-menu.ts";
import { membersLike, mentionAt, withMention } from "../src/mentions.ts";
import type { Action, Member, RoomState, Sender } from "../src/model.ts";
import { countWords, goesOn, hueOf, initialOf, leaseWords, limitWords, linkWords, typingWords } from "../src/room.ts";
import { rowsOf } from "../src/rows.ts";
import { ack, channel, lane, LANE, play, said } from "./frames.ts";

const MOHE: Sender = { name: "mohe", kind: "agent" };
const ZHIWEI: Sender = { name: "zhiwei", kind: "agent" };
const ADA: Sender = { name: "Ada", kind: "person", own: true };

const members: Member[] = [
  { name: "Ada", kind: "person", own: true, here: true, typing: true },
  { name: "mohe", kind: "agent", here: true },
  { name: "Moritz", kind: "person" },
  { name: "小果", kind: "agent", here: true },
];
const room = (more: Partial<RoomState> = {}): RoomState => ({ type: "room.state", chat_id: LANE, link: "joined", members, ...more });

describe("a mention", () => {
  test("is what stands between the sign and the caret", () => {
    assert.deepEqual(mentionAt("Hi @mo", 6), { from: 3, to: 6, letters: "mo" });
    assert.deepEqual(mentionAt("@", 1), { from: 0, to: 1, letters: "" });
    assert.deepEqual(mentionAt("你好＠小", 4), { from: 2, to: 4, letters: "小" });
    assert.deepEqual(mentionAt("@mohe and @z later", 12), { from: 10, to: 12, letters: "z" });
  });

  test("is over with a blank, and an address is none", () => {
    for (const [text, caret] of [["@mohe ", 6], ["ada@example", 11], ["no sign", 7], ["@mohe", 0], [`@${"x".repeat(40)}`, 41], ["@a\nb", 4]] as const) {
      assert.equal(mentionAt(text, caret), undefined, text);
    }
  });

  test("may mean whoever is called like it, those first who are here and begin so, never oneself", () => {
    const names = (letters: string) => membersLike(members, letters).map((member) => member.name);
    assert.deepEqual(names("mo"), ["mohe", "Moritz"]);
    assert.deepEqual(names("ó"), ["mohe", "Moritz"]);
    assert.deepEqual(names("果"), ["小果"]);
    assert.deepEqual(names("ada"), []);
    assert.deepEqual(names("moh"), ["mohe"]);
    assert.deepEqual(names("mohe"), [], "there is nothing left to complete");
    assert.deepEqual(names(""), ["mohe", "小果", "Moritz"]);
  });

  test("is completed in its place", () => {
    assert.deepEqual(withMention("Hi @mo", { from: 3, to: 6, letters: "mo" }, "mohe"), { text: "Hi @mohe ", caret: 9 });
    assert.deepEqual(withMention("Hi @mo there", { from: 3, to: 6, letters: "mo" }, "mohe"), { text: "Hi @mohe there", caret: 9 });
  });
});

describe("a room", () => {
  test("says who writes, without oneself", () => {
    assert.equal(typingWords(members), undefined);
    const writing = (...names: string[]): Member[] => names.map((name) => ({ name, kind: "agent", typing: true }));
    assert.equal(typingWords(writing("a")), "a is writing");
    assert.equal(typingWords(writing("a", "b", "c")), "a, b and c are writing");
    assert.equal(typingWords(writing("a", "b", "c", "d")), "4 members are writing");
  });

  test("counts who is here", () => {
    assert.deepEqual([countWords(members), countWords([]), countWords(members.slice(0, 1))], ["3 here", "Nobody here", "1 here"]);
  });

  test("says why one is not in it", () => {
    assert.equal(linkWords(room()), undefined);
    assert.equal(linkWords(room({ link: "connecting" })), "Joining the room…");
    assert.equal(linkWords(room({ link: "failed", why: "the nick is taken" })), "Not in the room. The nick is taken.");
    assert.equal(linkWords(room({ link: "failed" })), "Not in the room.");
  });

  test("says what is shared and who is silent", () => {
    const now = 1_700_000_000_000;
    const until = now / 1000 + 60;
    assert.match(leaseWords({ agent: "a@b", name: "mohe", title: "Oslo", until }, now), /^mohe shares its terminal session “Oslo” .* until /);
    assert.match(leaseWords({ agent: "a@b", name: "mohe", until }, now), /^mohe shares a terminal session/);
    assert.match(limitWords({ agent: "a@b", name: "mohe", rule: "run" }, now), /^mohe is silent until a person speaks: /);
    assert.match(limitWords({ agent: "a@b", name: "mohe", rule: "pair", until }, now), /^mohe is silent until \d.*: /);
  });

  test("gives a name one colour and an initial", () => {
    assert.equal(hueOf("mohe"), hueOf("mohe"));
    assert.ok(["", "mohe", "小果", "𠮷"].every((name) => hueOf(name) >= 0 && hueOf(name) < 8));
    assert.deepEqual([initialOf("mohe"), initialOf("小果"), initialOf("𠮷田"), initialOf(" ")], ["M", "小", "𠮷", "?"]);
  });

  test("can be renamed, and nothing else", () => {
    assert.deepEqual(menuOf(channel(1, { kind: "room" })).map((item) => item.deed), ["rename"]);
  });

  test("stands as it was told last, and anew after each connection", () => {
    const first = play([ack(), room({ link: "connecting" }), room({ stopped_by: "Ada" })]);
    assert.equal(first.rooms[LANE]?.stopped_by, "Ada");
    assert.deepEqual(play([ack(), room(), ack({ mode: "resumed" })]).rooms, {});
  });
});

describe("what is said in a room", () => {
  const rows = (...actions: Action[]) => rowsOf(lane(play(actions)), { chat_id: LANE }, []);
  const word = (id: string, order: number, sender: Sender, more = {}) => said(id, order, { role: sender.own ? "user" : "assistant", sender, ...more });

  test("has the sender's name once as long as the same one goes on", () => {
    const shown = rows(word("m1", 1, MOHE), word("m2", 2, MOHE), word("m3", 3, ZHIWEI), word("m4", 4, ADA), word("m5", 5, ZHIWEI), word("m6", 6, ZHIWEI, { ts: 2000 }));
    assert.deepEqual(shown.map((row) => (row.kind === "said" ? row.first : row.kind)), [true, false, true, "mine", true, true]);
  });

  test("has no footer, and a notice stays one", () => {
    assert.deepEqual(rows(word("m1", 1, MOHE), said("m2", 2, { role: "notice", sender: MOHE })).map((row) => row.kind), ["said", "notice"]);
  });

  test("is seen not to have arrived when the room did not take it", () => {
    assert.partialDeepStrictEqual(rows(word("m1", 1, ADA, { state: "error" })), [{ kind: "mine", refused: true }]);
    assert.partialDeepStrictEqual(rows(word("m1", 1, ADA)), [{ kind: "mine", refused: false }]);
  });

  test("an agent and a person of the same name are two", () => {
    assert.ok(!goesOn({ sender: MOHE, ts: 1 }, { sender: { name: "mohe", kind: "unknown" }, ts: 1 }));
  });
});
