import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { draftOf, writeDraft } from "../src/drafts.ts";
import type { MessageSend } from "../src/protocol/frames.ts";
import { channel, created, deleted, HOME, LANE, lane, page, said, thread } from "./frames.ts";
import { begun, welcome } from "./world.ts";
import type { World } from "./world.ts";

describe("a session", () => {
  test("asks for history after a reset and has no place to resume from", () => {
    const { world, shown } = begun();
    welcome(world);
    assert.deepEqual(world.socket.types(), ["hello", "history"]);
    assert.ok(!("resume" in (world.socket.sent[0] ?? {})));
    assert.equal(lane(shown().state).history, "loading");
  });

  test("resumes from the last event it read, and does not ask for what it has", () => {
    const { world } = begun();
    welcome(world);
    world.socket.says(page([], { client_id: "id-1" }));
    world.socket.says(said("m1", 1, { seq: 1 }));
    world.socket.closes(1006);
    world.pass(1_000);
    welcome(world, { mode: "resumed", seq: 1 });
    assert.partialDeepStrictEqual(world.socket.sent[0], { type: "hello", resume: { epoch: "e1", seq: 1 } });
    assert.deepEqual(world.socket.types(), ["hello"]);
  });

  test("comes back with its place when an event is missing", () => {
    const { world } = begun();
    welcome(world);
    world.socket.says(said("m2", 2, { seq: 2 }));
    assert.ok(world.sockets[0]?.closed);
    world.pass(1_000);
    welcome(world, { mode: "resumed" });
    assert.partialDeepStrictEqual(world.socket.sent[0], { resume: { epoch: "e1", seq: 0 } });
  });

  test("sends what was written offline in order, and again under the same ids", () => {
    const { world, session, shown } = begun();
    session.send("one");
    session.send("two");
    const sends = (): unknown[] => world.socket.sent.filter((frame) => frame.type === "message.send").map((frame) => [frame.client_id, frame.text]);
    welcome(world);
    assert.deepEqual(sends(), [["id-1", "one"]], "one at a time, so that a lane keeps its order");
    world.socket.says({ type: "message.accepted", client_id: "id-1", message_id: "m1", chat_id: LANE, seq: 1 });
    assert.deepEqual(sends(), [["id-1", "one"], ["id-2", "two"]]);
    world.socket.closes(1006);
    world.pass(1_000);
    welcome(world);
    assert.deepEqual(sends(), [["id-2", "two"]]);
    assert.deepEqual(shown().state.outbox.map((pending) => pending.state), ["sent", "pending"]);
  });

  test("retries a refused message under the same id", () => {
    const { world, session, shown } = begun();
    welcome(world);
    session.send("hello");
    world.socket.says({ type: "error", code: "busy", message: "Later.", client_id: "id-2" });
    assert.equal(shown().state.outbox[0]?.state, "failed");
    session.retry("id-2");
    assert.partialDeepStrictEqual(world.socket.sent.at(-1), { type: "message.send", client_id: "id-2", text: "hello" });
  });

  test("a page that was refused can be asked for again", () => {
    const { world, session, shown } = begun();
    welcome(world);
    world.socket.says({ type: "error", code: "busy", message: "Later.", client_id: "id-1" });
    assert.equal(lane(shown().state).history, "failed");
    session.fillLane();
    assert.equal(world.socket.types().filter((type) => type === "history").length, 2);
  });

  test("pages back from its oldest entry", () => {
    const { world, session } = begun();
    welcome(world);
    world.socket.says(page([said("m5", 5)], { client_id: "id-1", has_more: true }));
    session.loadOlder();
    session.loadOlder();
    assert.deepEqual(world.socket.sent.filter((frame) => frame.type === "history").map((frame) => frame.before), [undefined, 5]);
  });
});

describe("a request", () => {
  test("is settled by its answer", async () => {
    const { world, session } = begun();
    welcome(world);
    const asked = session.request({ type: "channel.create", kind: "channel", name: "Trip" });
    assert.deepEqual(world.socket.sent.at(-1), { type: "channel.create", client_id: "id-2", kind: "channel", name: "Trip" });
    const answer = { type: "channel.accepted", client_id: "id-2", chat_id: "android:chan_1" } as const;
    world.socket.says(answer);
    assert.deepEqual(await asked, { ok: true, answer });
  });

  test("is settled by a refusal, in the words of the gateway", async () => {
    const { world, session } = begun();
    welcome(world);
    const asked = session.request({ type: "channel.rename", chat_id: LANE, name: "Trip" });
    world.socket.says({ type: "error", code: "conflict", message: "$.name is taken", client_id: "id-2" });
    assert.deepEqual(await asked, { ok: false, message: "The name is taken." });
  });

  test("never hangs: without a connection, or when it is lost", async () => {
    const { world, session } = begun();
    const offline = await session.request({ type: "cron.list" });
    assert.ok(!offline.ok && offline.message.startsWith("Not connected"));
    welcome(world);
    const asked = session.request({ type: "cron.list" });
    world.socket.closes(1006);
    const lost = await asked;
    assert.ok(!lost.ok && lost.message.startsWith("The connection was lost"));
  });

  test("of somebody else settles nothing", () => {
    const { world } = begun();
    welcome(world);
    world.socket.says({ type: "ack", client_id: "unknown" });
    world.socket.says({ type: "error", code: "internal", message: "x" });
  });
});

describe("threads", () => {
  const split = { directory: [{ ...HOME, threads: true }, channel(1)] };
  const sends = (world: World): unknown[] => world.socket.sent.filter((frame) => frame.type === "message.send");
  const topic = { chat_id: LANE, thread_id: "t_1" };

  test("are begun by what is said in the flat lane, and by nothing else", () => {
    const { world, session } = begun();
    welcome(world, split);
    session.send("Plan a trip");
    world.socket.says({ type: "error", code: "busy", message: "Later.", client_id: "id-2" });
    session.send("/new");
    world.socket.says({ type: "error", code: "busy", message: "Later.", client_id: (sends(world).at(-1) as MessageSend).client_id });
    session.send(" ", { attachments: [{ id: "f1", name: "plan.pdf", type: "application/pdf", kind: "document", size: 1 }] });
    session.openLane(topic);
    session.send("And then?");
    session.openLane(channel(1));
    session.send("Hello");
    world.socket.says({ type: "error", code: "busy", message: "Later.", client_id: (sends(world).at(-1) as MessageSend).client_id });
    session.send("Why?", { quote: { message_id: "r1", order: 1, role: "cron", text: "News" } });
    assert.deepEqual(sends(world).map((frame) => [(frame as MessageSend).auto_thread, (frame as MessageSend).reply_to]), [
      [true, undefined], [undefined, undefined], [undefined, undefined], [undefined, undefined], [undefined, undefined], [undefined, "r1"],
    ]);
  });

  test("are asked for with the same words at every try", () => {
    const { world, session } = begun();
    welcome(world, split);
    session.send("Plan a trip");
    const [first] = sends(world);
    world.socket.closes(1006);
    world.pass(1_000);
    welcome(world, { directory: [HOME] });
    assert.deepEqual(sends(world), [first]);
    world.socket.says({ type: "error", code: "busy", message: "Later.", client_id: "id-2" });
    session.retry("id-2");
    assert.deepEqual(sends(world), [first, first]);
  });

  test("are followed with what is being written, and need no page", () => {
    const { world, session, shown } = begun();
    welcome(world, split);
    session.send("Plan a trip");
    writeDraft({ chat_id: LANE }, { text: "to the sea" });
    world.socket.says(created(thread(1, LANE), { auto: true, seq: 1 }));
    world.socket.says({ type: "message.accepted", client_id: "id-2", message_id: "m1", ...topic, seq: 2 });
    assert.deepEqual(shown().state.openLane, topic);
    assert.equal(draftOf(topic).text, "to the sea");
    assert.equal(world.socket.types().filter((type) => type === "history").length, 1);
  });

  test("that are deleted give way to their channel, whose page is fetched", () => {
    const { world, session, shown } = begun();
    welcome(world, { directory: [HOME, channel(1), thread(1, "android:chan_1")] });
    session.openLane({ chat_id: "android:chan_1", thread_id: "t_1" });
    world.socket.says({ ...deleted(thread(1, "android:chan_1")), seq: 1 });
    assert.deepEqual(shown().state.openLane, { chat_id: "android:chan_1" });
    const asked = world.socket.sent.filter((frame) => frame.type === "history").map((frame) => [frame.chat_id, frame.thread_id]);
    assert.deepEqual(asked, [[LANE, undefined], ["android:chan_1", "t_1"], ["android:chan_1", undefined]]);
  });
});
