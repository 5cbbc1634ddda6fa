import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { backOff, Connection } from "../src/connection.ts";
import type { Link } from "../src/connection.ts";
import { ack } from "./frames.ts";
import { World } from "./world.ts";
import type { FakeSocket } from "./world.ts";

function connected(): { world: World; connection: Connection; links: Link[] } {
  const world = new World();
  const links: Link[] = [];
  const connection = new Connection(world, {
    hello: () => ({ type: "hello", level: { min: 1, max: 1 }, device: { id: "d", name: "n", kind: "web" }, token: "t" }),
    frame: () => undefined,
    link: (link) => links.push(link),
  });
  connection.start();
  world.socket.opens();
  world.socket.says(ack());
  return { world, connection, links };
}

describe("back-off", () => {
  test("doubles up to half a minute", () => {
    assert.deepEqual([0, 1, 2, 5, 6, 30].map((attempt) => backOff(attempt, 1)), [500, 1000, 2000, 16000, 30000, 30000]);
  });

  test("leaves the upper half to chance", () => {
    assert.equal(backOff(3, 0), 2000);
    assert.equal(backOff(3, 0.5), 3000);
  });
});

describe("a connection", () => {
  test("says hello first and is open with the ack", () => {
    const { world, links } = connected();
    assert.deepEqual(world.socket.types(), ["hello"]);
    assert.deepEqual(links.map((link) => link.kind), ["connecting", "open"]);
  });

  test("stays as long as pings are answered", () => {
    const { world } = connected();
    for (let beat = 0; beat < 5; beat++) {
      world.pass(20_000);
      world.socket.says({ type: "pong" });
    }
    assert.equal(world.sockets.length, 1);
    assert.equal(world.socket.types().filter((type) => type === "ping").length, 5);
  });

  test("drops a socket that was silent for two intervals", () => {
    const { world, links } = connected();
    world.pass(40_000);
    assert.ok(world.sockets[0]?.closed);
    assert.equal(links.at(-1)?.kind, "waiting");
  });

  test("waits longer after each failure, and starts over after a good life", () => {
    const { world, links } = connected();
    const waits: number[] = [];
    const lose = (): void => {
      world.socket.closes(1006);
      const link = links.at(-1);
      assert.equal(link?.kind, "waiting");
      waits.push(link.until - world.now());
      world.pass(link.until - world.now());
    };
    world.pass(6_000);
    for (let time = 0; time < 3; time++) lose();
    world.socket.opens();
    world.socket.says(ack());
    world.pass(6_000);
    lose();
    assert.deepEqual(waits, [250, 500, 1000, 250]);
  });

  test("gives up a handshake that does not end", () => {
    const world = new World();
    const links: Link[] = [];
    new Connection(world, { hello: () => ({}) as never, frame: () => undefined, link: (link) => links.push(link) }).start();
    world.pass(10_000);
    assert.equal(links.at(-1)?.kind, "waiting");
  });

  test("does not come back when it is refused", () => {
    for (const refuse of [
      (socket: FakeSocket) => socket.closes(4401),
      (socket: FakeSocket) => socket.says({ type: "error", code: "unauthorized", message: "no" }),
    ]) {
      const { world, links } = connected();
      refuse(world.socket);
      world.pass(100_000);
      assert.equal(links.at(-1)?.kind, "refused");
      assert.equal(world.sockets.length, 1);
    }
  });

  test("keeps its token when it is only asked to wait", () => {
    const world = new World();
    const links: Link[] = [];
    new Connection(world, { hello: () => ({}) as never, frame: () => undefined, link: (link) => links.push(link) }).start();
    world.socket.opens();
    world.socket.says({ type: "error", code: "rate_limited", message: "Wait." });
    world.socket.closes(4401);
    assert.equal(links.at(-1)?.kind, "waiting");
  });

  test("comes back when a gateway that restarts said it would", () => {
    const { world, links } = connected();
    world.socket.says({ type: "server.closing", reason: "restart", back_in: 7 });
    world.socket.closes(1001);
    assert.deepEqual(links.at(-1), { kind: "waiting", until: 7_000, restarting: true });
    world.pass(7_000);
    assert.equal(world.sockets.length, 2);
  });

  test("comes back at once when it is woken, and finds a dead socket soon", () => {
    const { world, connection } = connected();
    world.socket.closes(1006);
    connection.wake();
    assert.equal(world.sockets.length, 2);
    world.socket.opens();
    world.socket.says(ack());
    connection.wake();
    assert.equal(world.socket.types().at(-1), "ping");
    world.pass(5_000);
    assert.ok(world.sockets[1]?.closed);
  });

  test("hears nothing of a socket that it left", () => {
    const { world, links } = connected();
    const [old] = world.sockets;
    world.socket.closes(1006);
    const told = links.length;
    old?.says(ack());
    old?.closes(1006);
    assert.equal(links.length, told);
  });
});
