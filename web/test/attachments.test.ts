import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { carryFiles, choose, chosenFor, discard, forgetFiles, isHeld, MOST_FILES, release, retry, sendWhenReady, sorted } from "../src/attachments.ts";
import { fileSize, isReadable, parted, playTime, suffixOf } from "../src/media.ts";
import type { Attachment } from "../src/model.ts";
import { rowsOf } from "../src/rows.ts";
import { headerValue, read } from "../src/upload.ts";
import { AT_REST, moved, zoomed } from "../src/zoom.ts";
import { laneOf } from "../src/model.ts";
import { LANE, play, queued } from "./frames.ts";
import { begun, welcome } from "./world.ts";

const HERE = { chat_id: LANE };
const THERE = { chat_id: LANE, thread_id: "t_1" };
const POLICY = { max_frame: 100, max_text: 100, max_history: 10, max_upload: 1000 };

const file = (name = "a.txt", size = 10, type = "text/plain"): File => new File([new Uint8Array(size)], name, { type });
const kept = (id: string, more: Partial<Attachment> = {}): Attachment => ({ id, name: "a.txt", type: "text/plain", size: 10, kind: "document", ...more });

/** A browser's request that a test answers; Node has none. */
class FakeRequest {
  static all: FakeRequest[] = [];
  upload: { onprogress: ((event: { loaded: number; total: number }) => void) | null } = { onprogress: null };
  onload: (() => void) | null = null;
  onerror: (() => void) | null = null;
  status = 0;
  responseText = "";
  aborted = false;
  address = "";
  readonly headers: Record<string, string> = {};
  open(_: string, address: string): void {
    this.address = address;
  }
  setRequestHeader(name: string, value: string): void {
    this.headers[name] = value;
  }
  send(): void {
    FakeRequest.all.push(this);
  }
  abort(): void {
    this.aborted = true;
  }
  async answers(status: number, body: unknown): Promise<void> {
    this.status = status;
    this.responseText = JSON.stringify(body);
    this.onload?.();
    await settled();
  }
  async breaks(): Promise<void> {
    this.onerror?.();
    await settled();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const request = (at: number): FakeRequest => FakeRequest.all[at] ?? assert.fail(`there is no request ${at}`);

beforeEach(() => {
  FakeRequest.all = [];
  Object.assign(globalThis, { XMLHttpRequest: FakeRequest });
});
afterEach(() => forgetFiles());

describe("files that are chosen", () => {
  test("go up at once, a few at a time", async () => {
    assert.equal(choose(HERE, [file("1"), file("2"), file("3"), file("4")], POLICY), undefined);
    assert.deepEqual(chosenFor(HERE).map((each) => each.state), ["sending", "sending", "sending", "waiting"]);
    await request(0).answers(201, kept("f1"));
    assert.deepEqual(chosenFor(HERE).map((each) => each.state), ["done", "sending", "sending", "sending"]);
    request(1).upload.onprogress?.({ loaded: 5, total: 10 });
    assert.equal(chosenFor(HERE)[1]?.part, 0.5);
  });

  test("carry their name, and a recording its length", () => {
    choose(HERE, [file("Größe 'a'.webm", 10, "audio/webm")], POLICY, 2.5);
    assert.equal(request(0).address, "/media?note=2.500");
    assert.equal(request(0).headers["Content-Disposition"], "attachment; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%27a%27.webm");
    assert.equal(request(0).headers["Content-Type"], "audio/webm");
  });

  test("that are too large or too many are told of, the others go", () => {
    assert.match(choose(HERE, [file("big.bin", 1001), file("small.bin", 1000)], POLICY) ?? "", /big\.bin has 1\.0 KB/);
    assert.deepEqual(chosenFor(HERE).map((each) => each.file.name), ["small.bin"]);
    const many = Array.from({ length: MOST_FILES }, () => file());
    assert.match(sorted(many, 1, POLICY).objection ?? "", /at most 20/);
    assert.equal(sorted(many, 1, POLICY).taken.length, MOST_FILES - 1);
    assert.equal(sorted(many, 0, undefined).objection, undefined);
  });

  test("a failure says why, and is tried again", async () => {
    choose(HERE, [file()], POLICY);
    await request(0).answers(507, { code: "disk_full", message: "the disk of the gateway is full" });
    assert.deepEqual(chosenFor(HERE).map(({ state, error }) => [state, error]), [["failed", "The disk of the gateway is full."]]);
    retry(HERE, chosenFor(HERE)[0]?.id ?? 0);
    await request(1).breaks();
    assert.equal(chosenFor(HERE)[0]?.error, "The connection was lost.");
    retry(HERE, chosenFor(HERE)[0]?.id ?? 0);
    await request(2).answers(201, kept("f1"));
    assert.equal(chosenFor(HERE)[0]?.state, "done");
  });

  test("one that is taken out is cancelled, and makes room for the next", () => {
    choose(HERE, [file("1"), file("2"), file("3"), file("4")], POLICY);
    discard(HERE, chosenFor(HERE)[0]?.id ?? 0);
    assert.equal(request(0).aborted, true);
    assert.deepEqual(chosenFor(HERE).map((each) => [each.file.name, each.state]), [["2", "sending"], ["3", "sending"], ["4", "sending"]]);
  });
});

describe("a message with files", () => {
  test("is sent when the last of them is there", async () => {
    const sent: string[][] = [];
    choose(HERE, [file("1"), file("2")], POLICY);
    sendWhenReady(HERE, (files) => sent.push(files.map((each) => each.id)));
    await request(1).answers(201, kept("f2"));
    assert.equal(isHeld(HERE), true);
    assert.equal(sent.length, 0);
    await request(0).answers(201, kept("f1"));
    assert.deepEqual(sent, [["f1", "f2"]], "in the order in which they were chosen");
    assert.equal(isHeld(HERE), false);
    assert.deepEqual(chosenFor(HERE), []);
  });

  test("waits for one that failed until it went or was taken out", async () => {
    const sent: number[] = [];
    choose(HERE, [file("1"), file("2")], POLICY);
    sendWhenReady(HERE, (files) => sent.push(files.length));
    await request(0).answers(201, kept("f1"));
    await request(1).breaks();
    assert.equal(isHeld(HERE), true);
    discard(HERE, chosenFor(HERE)[1]?.id ?? 0);
    assert.deepEqual(sent, [1]);
  });

  test("waits no longer once the person goes on writing, or nothing is left to wait for", async () => {
    const sent: number[] = [];
    choose(HERE, [file("1")], POLICY);
    sendWhenReady(HERE, (files) => sent.push(files.length));
    release(HERE);
    await request(0).answers(201, kept("f1"));
    assert.equal(sent.length, 0);
    choose(HERE, [file("2")], POLICY);
    sendWhenReady(HERE, (files) => sent.push(files.length));
    for (const each of chosenFor(HERE)) discard(HERE, each.id);
    assert.deepEqual([isHeld(HERE), sent], [false, []]);
  });

  test("without files is sent at once", () => {
    const sent: number[] = [];
    sendWhenReady(HERE, (files) => sent.push(files.length));
    assert.deepEqual(sent, [0]);
  });

  test("files that were chosen for the next message move into the thread that the last one opened", async () => {
    choose(HERE, [file("1")], POLICY);
    carryFiles(HERE, THERE);
    assert.deepEqual([chosenFor(HERE).length, chosenFor(THERE).length], [0, 1]);
    await request(0).answers(201, kept("f1"));
    assert.equal(chosenFor(THERE)[0]?.state, "done");
    choose(HERE, [file("2")], POLICY);
    carryFiles(HERE, THERE);
    assert.equal(chosenFor(HERE).length, 1, "what is there stays there");
    for (const each of chosenFor(THERE)) discard(THERE, each.id);
  });

  test("names its files on the wire, and shows them before and after the echo", () => {
    const { world, session } = begun();
    welcome(world);
    session.send("", { attachments: [kept("f1"), kept("f2")] });
    const frame = world.socket.sent.at(-1);
    assert.deepEqual(frame?.type === "message.send" && [frame.text, frame.attachments], ["", ["f1", "f2"]]);
    const state = play([queued("c1", { text: "", attachments: [kept("f1")] })]);
    const [row] = rowsOf(laneOf(state, HERE), HERE, state.outbox);
    assert.deepEqual(row?.kind === "mine" && row.attachments.map((each) => each.id), ["f1"]);
  });

  test("of the agent is shown although it has no text", () => {
    const state = play([{ type: "message", seq: 1, message_id: "m1", chat_id: LANE, role: "assistant", text: "", attachments: [kept("f1")], ts: 1, order: 1 }]);
    const [row] = rowsOf(laneOf(state, HERE), HERE, []);
    assert.deepEqual(row?.kind === "answer" && row.entry.attachments.map((each) => each.id), ["f1"]);
  });
});

describe("words about files", () => {
  test("sizes", () => {
    assert.deepEqual([0, 312, 4700, 12_400_000, 3_000_000_000].map(fileSize), ["0 B", "312 B", "4.7 KB", "12 MB", "3.0 GB"]);
  });

  test("lengths", () => {
    assert.deepEqual([0, 7.4, 760, 3723, NaN, Infinity].map(playTime), ["0:00", "0:07", "12:40", "1:02:03", "0:00", "0:00"]);
  });

  test("ends of names", () => {
    assert.deepEqual(["a.pdf", "archive.tar.gz", ".bashrc", "no end", "a.toolongforanend"].map(suffixOf), ["PDF", "GZ", "", "", ""]);
  });

  test("what can be read in its card", () => {
    assert.equal(isReadable(kept("f1")), true);
    assert.equal(isReadable(kept("f1", { type: "application/json" })), true);
    assert.equal(isReadable(kept("f1", { type: "application/pdf" })), false);
    assert.equal(isReadable(kept("f1", { size: 5_000_000 })), false);
  });

  test("pictures stand together", () => {
    const files = [kept("1", { kind: "image" }), kept("2"), kept("3", { kind: "image" })];
    const { pictures, others } = parted(files);
    assert.deepEqual([pictures.map((each) => each.id), others.map((each) => each.id)], [["1", "3"], ["2"]]);
  });

  test("half a character does not break a name", () => {
    assert.equal(headerValue("a\ud800b(1)*"), "a%EF%BF%BDb%281%29%2A");
    assert.equal(headerValue("😀"), "%F0%9F%98%80");
  });

  test("whatever answers an upload is understood", () => {
    assert.equal(read(201, JSON.stringify(kept("f1"))).ok, true);
    assert.deepEqual(read(413, "<html>"), { ok: false, message: "The file is too large." });
    assert.deepEqual(read(502, "<html>"), { ok: false, message: "The gateway did not take the file (502)." });
    assert.deepEqual(read(201, "[]"), { ok: false, message: "The gateway did not take the file (201)." });
  });
});

describe("a picture on its stage", () => {
  test("grows around a point that stays where it is", () => {
    const place = zoomed(AT_REST, 2, { x: 100, y: 50 });
    assert.deepEqual(place, { scale: 2, x: -100, y: -50 });
    const again = zoomed(place, 2, { x: 100, y: 50 });
    // The point of the picture under (100, 50) is the same as before.
    assert.deepEqual([(100 - again.x) / again.scale, (50 - again.y) / again.scale], [100, 50]);
  });

  test("has a largest size, and is whole at the smallest", () => {
    assert.equal(zoomed(AT_REST, 100, { x: 0, y: 0 }).scale, 8);
    assert.deepEqual(zoomed(moved({ scale: 1.5, x: 0, y: 0 }, 30, 40), 0.5, { x: 9, y: 9 }), AT_REST);
  });
});
