/**
 * One socket to the gateway that comes back by itself.
 *
 * It knows how to say hello, how to notice a dead socket and when to try again; what frames mean is the business of
 * its owner. Frames are handed over in the order in which they came, and never after `stop`.
 */
import { words } from "./language.ts";
import type { ClientFrame, Hello, ServerFrame } from "./protocol/frames.ts";
import type { LocalTime } from "./model.ts";

export type Link =
  | { readonly kind: "connecting" }
  | { readonly kind: "open" }
  | { readonly kind: "waiting"; readonly until: LocalTime; readonly restarting: boolean }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "stopped" };

/** The part of WebSocket that is used, so that tests can stand in for it. */
export interface Socket {
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  send(text: string): void;
  close(): void;
}

export interface Surroundings {
  open(): Socket;
  now(): LocalTime;
  random(): number;
  /** Runs `work` after that many milliseconds; gives what cancels it. */
  after(delay: number, work: () => void): () => void;
}

export interface Owner {
  hello(): Hello;
  frame(frame: ServerFrame): void;
  link(link: Link): void;
}

const HEARTBEAT = 20_000;
const PROBE = 5_000;
const HANDSHAKE = 10_000;
const FIRST_DELAY = 500;
const LONGEST_DELAY = 30_000;
/** A connection that lived this long was a good one: the next loss starts at the first delay again. */
const GOOD_LIFE = 5_000;
const CLOSE_UNAUTHORIZED = 4401;

/** Milliseconds before an attempt: doubling up to half a minute, and the upper half of it left to chance. */
export function backOff(attempt: number, random: number): number {
  const ceiling = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** attempt);
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}

export class Connection {
  private readonly around: Surroundings;
  private readonly owner: Owner;
  private socket: Socket | undefined;
  private attempt = 0;
  private openedAt: LocalTime | undefined;
  private pingOutstanding = false;
  /** The gateway closes a device that it only asks for patience like one that it does not know. */
  private askedToWait = false;
  private restartDelay: number | undefined;
  private cancelRetry: () => void = () => undefined;
  private cancelWatch: () => void = () => undefined;
  private current: Link = { kind: "stopped" };

  constructor(around: Surroundings, owner: Owner) {
    this.around = around;
    this.owner = owner;
  }

  get isOpen(): boolean {
    return this.current.kind === "open";
  }

  start(): void {
    this.attempt = 0;
    this.connect();
  }

  stop(): void {
    this.abandon();
    this.become({ kind: "stopped" });
  }

  /** Gives whether the frame left; a frame that did not is the owner's to keep. */
  send(frame: ClientFrame): boolean {
    if (this.socket === undefined || !this.isOpen) return false;
    this.socket.send(JSON.stringify(frame));
    return true;
  }

  /** Drops the socket and comes back with `resume`. */
  resume(): void {
    if (this.socket !== undefined) this.lost();
  }

  /** The network or the person came back: no point in waiting any longer, or in trusting an old socket. */
  wake(): void {
    if (this.current.kind === "waiting") this.start();
    else if (this.isOpen) this.beat(PROBE);
  }

  private connect(): void {
    this.abandon();
    this.become({ kind: "connecting" });
    const socket = this.around.open();
    this.socket = socket;
    socket.onopen = () => socket.send(JSON.stringify(this.owner.hello()));
    socket.onmessage = (event) => this.received(event.data);
    socket.onclose = (event) => {
      if (event.code === CLOSE_UNAUTHORIZED && !this.askedToWait) this.refuse();
      else this.lost();
    };
    this.cancelWatch = this.around.after(HANDSHAKE, () => this.lost());
  }

  private received(data: unknown): void {
    if (typeof data !== "string") return;
    this.pingOutstanding = false;
    // The gateway is ours and its frames are checked where they are made; what is not JSON is a broken connection.
    const frame = parse(data);
    if (frame === undefined) return this.lost();
    if (frame.type === "error" && frame.code === "unauthorized") return this.refuse();
    if (frame.type === "error" && frame.code === "rate_limited" && !this.isOpen) this.askedToWait = true;
    if (frame.type === "server.closing") this.restartDelay = (frame.back_in ?? 1) * 1000;
    this.owner.frame(frame);
    if (frame.type === "hello.ack" && this.socket !== undefined) this.opened();
  }

  private opened(): void {
    this.openedAt = this.around.now();
    this.restartDelay = undefined;
    this.watch(HEARTBEAT);
    this.become({ kind: "open" });
  }

  private watch(interval: number): void {
    this.cancelWatch();
    this.cancelWatch = this.around.after(interval, () => {
      if (this.pingOutstanding) this.lost();
      else this.beat(HEARTBEAT);
    });
  }

  private beat(patience: number): void {
    this.pingOutstanding = true;
    this.send({ type: "ping" });
    this.watch(patience);
  }

  private lost(): void {
    const livedWell = this.openedAt !== undefined && this.around.now() - this.openedAt >= GOOD_LIFE;
    if (livedWell) this.attempt = 0;
    const restarting = this.restartDelay !== undefined;
    const delay = this.restartDelay ?? backOff(this.attempt, this.around.random());
    this.attempt++;
    this.abandon();
    this.become({ kind: "waiting", until: this.around.now() + delay, restarting });
    this.cancelRetry = this.around.after(delay, () => this.connect());
  }

  private refuse(): void {
    this.abandon();
    this.become({ kind: "refused", message: words.value.pairing.ended });
  }

  private abandon(): void {
    this.cancelRetry();
    this.cancelWatch();
    const socket = this.socket;
    this.socket = undefined;
    this.openedAt = undefined;
    this.pingOutstanding = false;
    this.askedToWait = false;
    this.restartDelay = undefined;
    if (socket === undefined) return;
    socket.onopen = null;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }

  private become(link: Link): void {
    this.current = link;
    this.owner.link(link);
  }
}

function parse(data: string): ServerFrame | undefined {
  try {
    return JSON.parse(data) as ServerFrame;
  } catch {
    return undefined;
  }
}
