/** Sockets and a clock for tests of what lives around a connection. */
import assert from "node:assert/strict";
import type { Socket, Surroundings } from "../src/connection.ts";
import type { ClientFrame, ServerFrame } from "../src/protocol/frames.ts";
import { Session } from "../src/session.ts";
import type { Snapshot } from "../src/session.ts";
import { ack } from "./frames.ts";

export class FakeSocket implements Socket {
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  readonly sent: ClientFrame[] = [];
  closed = false;
  send(text: string): void {
    this.sent.push(JSON.parse(text) as ClientFrame);
  }
  close(): void {
    this.closed = true;
  }
  opens(): void {
    this.onopen?.(new Event("open"));
  }
  says(frame: ServerFrame): void {
    this.onmessage?.(new MessageEvent("message", { data: JSON.stringify(frame) }));
  }
  closes(code: number): void {
    this.onclose?.(Object.assign(new Event("close"), { code }) as CloseEvent);
  }
  types(): string[] {
    return this.sent.map((frame) => frame.type);
  }
}

/** Sockets and a clock that move only when a test says so. */
export class World implements Surroundings {
  readonly sockets: FakeSocket[] = [];
  private time = 0;
  private timers: { at: number; work: () => void }[] = [];
  open(): FakeSocket {
    const socket = new FakeSocket();
    this.sockets.push(socket);
    return socket;
  }
  now(): number {
    return this.time;
  }
  random(): number {
    return 0;
  }
  after(delay: number, work: () => void): () => void {
    const timer = { at: this.time + delay, work };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }
  pass(milliseconds: number): void {
    const end = this.time + milliseconds;
    for (;;) {
      const next = this.timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.timers = this.timers.filter((timer) => timer !== next);
      this.time = next.at;
      next.work();
    }
    this.time = end;
  }
  get socket(): FakeSocket {
    const socket = this.sockets.at(-1);
    assert.ok(socket);
    return socket;
  }
}

/** A session that has not reached its gateway yet. */
export function begun(): { world: World; session: Session; shown: () => Snapshot } {
  const world = new World();
  let minted = 0;
  let last: Snapshot | undefined;
  const session = new Session(world, { id: "d1", token: "tok", name: "Test" }, () => `id-${++minted}`, (snapshot) => {
    last = snapshot;
  });
  session.start();
  const shown = (): Snapshot => {
    assert.ok(last);
    return last;
  };
  return { world, session, shown };
}

export function welcome(world: World, more: Parameters<typeof ack>[0] = {}): void {
  world.socket.opens();
  world.socket.says(ack(more));
}
