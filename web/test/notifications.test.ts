import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Looks } from "../src/looks.ts";
import type { LaneAddress } from "../src/model.ts";
import { bytesOf, standingOf } from "../src/notifications.ts";
import type { Browser } from "../src/notifications.ts";
import type { PushState } from "../src/protocol/frames.ts";
import { laneFor } from "../src/shared.ts";
import { channel, HOME, LANE, said, thread } from "./frames.ts";
import { begun, welcome } from "./world.ts";

describe("what is looked at", () => {
  interface Told {
    readonly lane: LaneAddress | undefined;
    readonly seq: number;
  }
  const looking = (): { looks: Looks; told: Told[]; link: { open: boolean } } => {
    const told: Told[] = [];
    const link = { open: true };
    const looks = new Looks((lane, seq) => {
      if (link.open) told.push({ lane, seq });
      return link.open;
    });
    return { looks, told, link };
  };

  test("is told when it changes, with what the page has by then", () => {
    const { looks, told } = looking();
    looks.note({ chat_id: LANE }, 1);
    assert.deepEqual(told, [], "a page in the background says nothing");
    looks.attend(true);
    looks.note({ chat_id: LANE }, 2);
    looks.note({ chat_id: LANE }, 3);
    looks.note({ chat_id: LANE, thread_id: "t_1" }, 4);
    looks.attend(false);
    looks.note({ chat_id: LANE, thread_id: "t_1" }, 5);
    assert.deepEqual(told, [{ lane: { chat_id: LANE }, seq: 2 }, { lane: { chat_id: LANE, thread_id: "t_1" }, seq: 4 }, { lane: undefined, seq: 5 }]);
  });

  test("is told again over a new connection, and not lost with the old one", () => {
    const { looks, told, link } = looking();
    looks.attend(true);
    link.open = false;
    looks.note({ chat_id: LANE }, 1);
    link.open = true;
    looks.note({ chat_id: LANE }, 1);
    looks.lost();
    looks.note({ chat_id: LANE }, 2);
    assert.deepEqual(told.map(({ seq }) => seq), [1, 2]);
  });

  test("goes to the gateway before the marks of what was read", () => {
    const { world, session } = begun();
    const directory = [HOME, channel(7)];
    session.attend(true);
    welcome(world, { directory });
    session.watch(true);
    world.socket.says(said("m1", 7, { role: "assistant", seq: 1 }));
    world.pass(1_000);
    assert.deepEqual(world.socket.types().filter((type) => type === "device.look" || type === "read.mark"), ["device.look", "read.mark"]);
    session.attend(false);
    assert.partialDeepStrictEqual(world.socket.sent.at(-1), { type: "device.look", seq: 1 });
    assert.ok(!("chat_id" in (world.socket.sent.at(-1) ?? {})));
    session.attend(true);
    session.openLane({ chat_id: "android:chan_7" });
    assert.deepEqual(world.socket.sent.filter(({ type }) => type === "device.look").length, 4);
    world.socket.closes(1006);
    world.pass(1_000);
    welcome(world, { mode: "resumed", seq: 1, directory });
    assert.partialDeepStrictEqual(world.socket.sent.find(({ type }) => type === "device.look"), { chat_id: "android:chan_7" });
  });
});

describe("notifications", () => {
  const browser: Browser = { secure: true, pushes: true, installs: false, registered: true, permission: "granted", endpoint: "https://push.example/1" };
  const told: PushState = { type: "push.state", client_id: "c", available: true, key: "k", endpoint: "https://push.example/1", preferences: { details: true } };

  const cases: readonly [string, Partial<Browser>, Partial<PushState>, unknown][] = [
    ["are on when browser and gateway have the same place", {}, {}, { kind: "on", preferences: { details: true } }],
    ["are on with what holds at first", {}, { preferences: {} }, { kind: "on", preferences: {} }],
    ["are off before they were asked for", { permission: "default", endpoint: undefined }, {}, { kind: "off" }],
    ["are off when the gateway calls another place", {}, { endpoint: "https://push.example/2" }, { kind: "off" }],
    ["are off when the browser has lost its place", { endpoint: undefined }, {}, { kind: "off" }],
    ["are blocked when the person said no", { permission: "denied" }, {}, { kind: "blocked" }],
    ["need a secure context before anything else", { secure: false, pushes: false }, { available: false }, { kind: "impossible", why: "insecure" }],
    ["need a browser that has them", { pushes: false }, {}, { kind: "impossible", why: "unsupported" }],
    ["need an installed app on iOS", { pushes: false, installs: true }, {}, { kind: "impossible", why: "uninstalled" }],
    ["need a service worker", { registered: false }, {}, { kind: "impossible", why: "unregistered" }],
    ["need a gateway that can", {}, { available: false, why: "httpcore is missing" }, { kind: "unavailable", message: "httpcore is missing" }],
  ];
  for (const [name, there, state, expected] of cases) {
    test(name, () => assert.deepEqual(standingOf({ ...browser, ...there }, { ...told, ...state }), expected));
  }

  test("take the gateway's key as bytes", () => {
    assert.deepEqual([...bytesOf("-_8A")], [251, 255, 0]);
    assert.equal(bytesOf("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4").length, 65);
  });
});

describe("what is shared", () => {
  const seven = channel(7);
  const reports = channel(8, { automation: true });
  const room = channel(9, { kind: "room" });
  const gone = channel(10, { archived: true });
  const topic = thread(1, LANE);
  const directory = [HOME, seven, reports, room, gone, topic];
  const cases: readonly [string, LaneAddress, boolean, LaneAddress][] = [
    ["goes where the person was", { chat_id: seven.chat_id }, true, { chat_id: seven.chat_id }],
    ["goes to a thread, too", { chat_id: LANE, thread_id: "t_1" }, true, { chat_id: LANE, thread_id: "t_1" }],
    ["does not go to a channel of reports", { chat_id: reports.chat_id }, false, { chat_id: LANE }],
    ["goes to a room as text", { chat_id: room.chat_id }, false, { chat_id: room.chat_id }],
    ["does not go to a room as files", { chat_id: room.chat_id }, true, { chat_id: LANE }],
    ["does not go to what was deleted", { chat_id: gone.chat_id }, false, { chat_id: LANE }],
  ];
  for (const [name, openLane, hasFiles, expected] of cases) {
    test(name, () => assert.deepEqual(laneFor(directory, openLane, hasFiles), expected));
  }

  test("waits where a new page is when it knows of no channel yet", () => {
    assert.deepEqual(laneFor([], { chat_id: LANE }, true), { chat_id: LANE });
  });
});
