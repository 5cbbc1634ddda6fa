import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { changeIn, isDiff, shownOf } from "../src/output.ts";
import type { AskEntry } from "../src/model.ts";
import type { RequestCard, RequestClosed, RequestOpened, SlashCommand } from "../src/protocol/frames.ts";
import { endingOf, groupsOf, timeLeft } from "../src/questions.ts";
import { rowsOf } from "../src/rows.ts";
import { calledBy, offersFor } from "../src/slash.ts";
import { ack, channel, entry, HOME, LANE, lane, page, play, said, thread, turnEnd, turnStart } from "./frames.ts";

const opened = (id: string, order: number): RequestOpened =>
  ({ type: "request.opened", request_id: id, chat_id: LANE, turn_id: "t1", question: { kind: "approval", title: "delete", detail: "rm" }, ts: 1, order });
const closed = (id: string, more: Partial<RequestClosed> = {}): RequestClosed =>
  ({ type: "request.closed", request_id: id, chat_id: LANE, outcome: "answered", answer: "Deny", by_name: "Phone", ts: 2, ...more });
const card = (id: string, order: number, more: Partial<RequestCard> = {}): RequestCard => ({ ...opened(id, order), type: "request", ...more });
const asked = (state: Parameters<typeof lane>[0]): string[] => lane(state).asked.map(({ id }) => id);

describe("requests in a lane", () => {
  test("wait in the order in which they came, until they are closed", () => {
    const open = play([ack(), opened("a", 10), opened("b", 20), opened("b", 20)]);
    assert.deepEqual(asked(open), ["a", "b"]);
    const left = play([closed("a")], open);
    assert.deepEqual(asked(left), ["b"]);
    assert.equal(endingOf(entry(left, "a") as AskEntry), "Deny — by Phone");
  });

  test("are known from the greeting before any page, and stand in no gap", () => {
    const state = play([ack({ requests: [card("a", 10)] })]);
    assert.deepEqual(asked(state), ["a"]);
    assert.deepEqual(lane(state).entries, []);
    const again = play([ack({ mode: "resumed", requests: [] })], state);
    assert.deepEqual(asked(again), []);
  });

  test("stay closed when an older page still has them open", () => {
    const state = play([ack({ requests: [card("a", 10)] }), closed("a"), page([card("a", 10)])]);
    assert.deepEqual(asked(state), []);
    assert.equal((entry(state, "a") as AskEntry).outcome, "answered");
  });

  test("keep their place when a page tells how they ended", () => {
    const state = play([ack(), opened("a", 10), page([card("a", 10, { outcome: "expired" })])]);
    assert.equal(endingOf(entry(state, "a") as AskEntry), "Expired without an answer");
  });
});

describe("turns that went wrong", () => {
  const footers = (state: Parameters<typeof lane>[0]) =>
    rowsOf(lane(state), { chat_id: LANE }, []).flatMap((row) => (row.kind === "footer" ? [row.footer] : []));

  test("are told by a page, with their reason, and can be tried again", () => {
    const turns = [{ turn_id: "t1", started: 1000, ended: 1004, outcome: "failure" as const, error: "No model." }];
    const state = play([ack(), page([said("m1", 10)], { turns })]);
    assert.deepEqual(footers(state).map(({ ending, error, took, retry }) => [ending, error, took, retry?.text]), [["failed", "No model.", 4, "text of m1"]]);
  });

  test("are not tried again behind something newer, nor while a turn runs", () => {
    const failed = play([ack(), said("m1", 10), turnStart(), turnEnd("t1", { outcome: "interrupted" })]);
    assert.deepEqual(footers(failed).map(({ retry }) => retry?.text), ["text of m1"]);
    assert.deepEqual(footers(play([said("m2", 20)], failed)).map(({ retry }) => retry), [undefined]);
    assert.deepEqual(footers(play([turnStart("t2")], failed)).map(({ retry }) => retry), [undefined]);
  });
});

describe("choices", () => {
  test("are found by words of their name and heading", () => {
    const choices = [{ value: "1", label: "small", group: "Acme" }, { value: "2", label: "large", group: "Acme" }, { value: "3", label: "large", group: "Other" }];
    assert.deepEqual(groupsOf(choices, "acme lar").map(({ name, choices: fitting }) => [name, fitting.map(({ value }) => value)]), [["Acme", ["2"]]]);
    assert.equal(groupsOf(choices, "").length, 2);
  });

  test("time that is left", () => {
    assert.deepEqual([timeLeft(272, 0), timeLeft(5, 10_000), timeLeft(7_300, 0)], ["4:32", "0:00", "2 h 1 min"]);
  });
});

describe("slash commands", () => {
  const commands: SlashCommand[] = [
    { name: "new", description: "Anew", args: "[name]", aliases: ["reset"] },
    { name: "renew", description: "Again" },
    { name: "fast", description: "Fast", subcommands: ["on", "off"] },
  ];
  const texts = (text: string): string[] => offersFor(text, commands).map((offer) => offer.text);

  test("are offered by name, then by alias, then by a part", () => {
    assert.deepEqual(texts("/ne"), ["/new ", "/renew"]);
    assert.deepEqual(texts("/res"), ["/new "]);
    assert.deepEqual(texts("/"), ["/new ", "/renew", "/fast "]);
    assert.deepEqual([texts("ne"), texts("/xyz"), texts("/new a b")], [[], [], []]);
  });

  test("offer what comes first behind them", () => {
    assert.deepEqual(texts("/fast o"), ["/fast on", "/fast off"]);
    assert.deepEqual(texts("/fast on"), []);
  });

  test("offer the channels and topics that a job can report to, by their addresses", () => {
    const directory = [
      HOME, { ...thread(1, LANE), name: "Reports of May" }, { ...channel(2), name: "Cron Reports" },
      { ...channel(3), name: "Gone reports", archived: true }, { ...channel(4), name: "Room of reports", kind: "room" as const },
    ];
    const offered = (text: string): string[] => offersFor(text, commands, directory).map((offer) => offer.text);
    const make = '/cron create "every 1h" "What is new?" --deliver ';
    assert.deepEqual(offered(`${make}repo`), [`${make}android:${LANE}:t_1`, `${make}android:android:chan_2`]);
    assert.deepEqual(offered(`${make}"android:Cron`), [`${make}android:android:chan_2`]);
    assert.equal(offered(make).length, 3);
    assert.deepEqual([offered(`${make}android`), offered(`${make}android:android:chan_2 `), offered('/new --deliver c')], [[], [], []]);
  });

  test("are reminded of by what may follow them", () => {
    assert.equal(calledBy("/reset x", commands)?.name, "new");
    assert.equal(calledBy("/reset", commands), undefined);
  });
});

describe("outputs", () => {
  test("a difference is told by its form", () => {
    assert.equal(isDiff("--- a\n+++ b\n@@ -1,2 +1,2 @@\n one\n-two\n+three"), true);
    assert.equal(isDiff("- one\n+ two"), false);
  });

  test("pictures stand apart from the text", () => {
    const shown = shownOf("before data:image/png;base64,AAAA after");
    assert.deepEqual([shown.pictures, shown.text], [[{ src: "data:image/png;base64,AAAA" }], "before (picture) after"]);
    assert.equal(shownOf("data:image/svg+xml;base64,AAAA").pictures.length, 0);
    assert.equal(shownOf('{"a": 1}').language, "json");
  });

  test("a change is read from the arguments", () => {
    assert.equal(changeIn({ path: "f", old_string: "a", new_string: "b\nc" }), "--- f\n+++ f\n-a\n+b\n+c");
    assert.equal(changeIn({ command: "ls" }), undefined);
  });
});
