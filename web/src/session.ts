/**
 * What a person does, turned into frames, and what the gateway says, turned into state.
 *
 * Nothing that was written is lost with a connection: the outbox is sent again in order after every hello, under the
 * same ids, and the gateway answers a repeated id with its first result.
 */
import { carryFiles } from "./attachments.ts";
import { Connection } from "./connection.ts";
import type { Link, Surroundings } from "./connection.ts";
import { beginsThread } from "./directory.ts";
import { carryDraft } from "./drafts.ts";
import { endHolds } from "./lane.ts";
import { Looks } from "./looks.ts";
import { Marks } from "./marks.ts";
import { INITIAL_STATE, laneKey, laneOf, sameLane } from "./model.ts";
import type { Action, Attachment, LaneAddress, PagePlace, Pending, Quote, State } from "./model.ts";
import { Outbox } from "./outbox.ts";
import type { Shared } from "./outbox.ts";
import type { Identity } from "./pairing.ts";
import type { Hello, ServerFrame } from "./protocol/frames.ts";
import { Requests } from "./requests.ts";
import type { Kind, Outcome, Request } from "./requests.ts";
import { reduce, standing } from "./state.ts";

const PROTOCOL_LEVEL = 1;
const PAGE_SIZE = 50;

export interface Snapshot {
  readonly state: State;
  readonly link: Link;
}

/** Whether some of what was missed has yet to come in. */
export function isBehind({ state, link }: Snapshot): boolean {
  return link.kind === "open" && state.seq < state.head;
}

/** What a message may carry besides its text. */
export interface Extras {
  /** What it answers. */
  readonly quote?: Quote | undefined;
  /** The person's last message, whose place it takes. */
  readonly replaces?: string | undefined;
  readonly attachments?: readonly Attachment[];
  /** Where it is said; without it, in the open lane. */
  readonly address?: LaneAddress;
}

export class Session {
  private readonly around: Surroundings;
  private readonly identity: Identity;
  private readonly mintId: () => string;
  private readonly publish: (snapshot: Snapshot) => void;
  private readonly connection: Connection;
  private readonly requests: Requests;
  private readonly marks: Marks;
  private readonly looks: Looks;
  private readonly outbox: Outbox;
  private state: State;
  private link: Link = { kind: "stopped" };

  constructor(
    around: Surroundings, identity: Identity, mintId: () => string, publish: (snapshot: Snapshot) => void,
    begin: State = INITIAL_STATE, shared?: Shared,
  ) {
    this.around = around;
    this.identity = identity;
    this.mintId = mintId;
    this.publish = publish;
    this.state = begin;
    this.requests = new Requests((frame) => this.connection.send(frame));
    this.marks = new Marks(
      (delay, work) => this.around.after(delay, work),
      (address, order) => this.connection.send({ type: "read.mark", client_id: this.mintId(), ...address, order }),
    );
    this.looks = new Looks((address, seq) => this.connection.send({ type: "device.look", client_id: this.mintId(), ...address, seq }));
    const owner = {
      rows: () => this.state.outbox,
      transmit: (pending: Pending) => this.transmit(pending),
      dispatch: (action: Action) => this.dispatch(action),
    };
    this.outbox = new Outbox(owner, shared);
    this.connection = new Connection(around, {
      hello: () => this.hello(),
      frame: (frame) => this.received(frame),
      link: (link) => this.linkChanged(link),
    });
  }

  /** What is known now, not what was drawn last. */
  get current(): State {
    return this.state;
  }

  start(): void {
    this.outbox.begin();
    this.connection.start();
  }

  stop(): void {
    this.connection.stop();
  }

  /** What this browser is called by the gateway. */
  get deviceId(): string {
    return this.identity.id;
  }

  wake(): void {
    this.connection.wake();
  }

  send(text: string, { quote, replaces, attachments = [], address = this.state.openLane }: Extras = {}): void {
    const clientId = this.mintId();
    const { directory } = this.state;
    const autoThread = quote?.role !== "cron" && replaces === undefined && beginsThread(directory, address, text);
    this.dispatch({ type: "local.queued", clientId, address, text, attachments, autoThread, quote, replaces });
  }

  retry(clientId: string): void {
    this.outbox.retry(clientId);
  }

  discard(clientId: string): void {
    this.outbox.discard(clientId);
  }

  stopTurn(): void {
    const address = this.state.openLane;
    const asked = this.requests.ask({ type: "turn.stop", client_id: this.mintId(), ...address }, (outcome) => {
      if (!outcome.ok) this.dispatch({ type: "local.stopFailed", address });
    });
    if (asked) this.dispatch({ type: "local.stopAsked", address });
  }

  /** For what has no place in the state but its answer, or a refusal to be told where the person acted. */
  request<K extends Kind>(request: Omit<Request<K>, "client_id"> & { type: K }): Promise<Outcome<K>> {
    return new Promise((resolve) => {
      this.requests.ask({ ...request, client_id: this.mintId() } as unknown as Request<K>, resolve);
    });
  }

  openLane(address: LaneAddress): void {
    if (!sameLane(address, this.state.openLane)) this.dispatch({ type: "local.excerptClosed", address });
    this.dispatch({ type: "local.laneOpened", address });
    this.fillLane();
  }

  /** Opens a lane at a place in it, wherever in its past that is. */
  openAt(address: LaneAddress, order: number): void {
    this.dispatch({ type: "local.laneOpened", address });
    if (endHolds(laneOf(this.state, address), order)) this.dispatch({ type: "local.excerptClosed", address });
    else this.askExcerpt(address, { around: order });
  }

  /** Takes a message out of the person's sight, or brings it back. */
  setHidden(id: string, on: boolean): Promise<Outcome<"message.set_hidden">> {
    return this.request({ type: "message.set_hidden", message_id: id, on });
  }

  /** Leaves the past of the open lane for its end. */
  showLatest(): void {
    this.dispatch({ type: "local.excerptClosed", address: this.state.openLane });
    this.fillLane();
  }

  /** Whether the person has the end of the open lane in view. */
  watch(on: boolean): void {
    this.dispatch({ type: "local.watching", on });
  }

  /** Whether the person has the page itself in front of them. */
  attend(on: boolean): void {
    this.looks.attend(on);
    this.tellLook();
  }

  loadNewer(): void {
    const address = this.state.openLane;
    const { excerpt } = laneOf(this.state, address);
    const newest = excerpt?.entries.at(-1);
    if (newest !== undefined && excerpt?.hasNewer && excerpt.history === "loaded") this.askExcerpt(address, { after: newest.order });
  }

  loadOlder(): void {
    const address = this.state.openLane;
    const lane = laneOf(this.state, address);
    if (lane.excerpt !== undefined) {
      const { entries: [first], hasOlder, history } = lane.excerpt;
      if (first !== undefined && hasOlder && history === "loaded") this.askExcerpt(address, { before: first.order });
      return;
    }
    const oldest = lane.entries[0];
    if (oldest !== undefined && lane.hasOlder && lane.history !== "loading") this.askHistory(address, oldest.order);
  }

  /** Asks for the part of the open lane that is shown, unless it is here. */
  fillLane(): void {
    const address = this.state.openLane;
    const { history, excerpt } = laneOf(this.state, address);
    if (excerpt !== undefined) {
      if (excerpt.history === "failed") this.askExcerpt(address, excerpt.asked);
      return;
    }
    if (history === "unknown" || history === "failed") this.askHistory(address, undefined);
  }

  private hello(): Hello {
    const { epoch, seq } = this.state;
    return {
      type: "hello",
      level: { min: PROTOCOL_LEVEL, max: PROTOCOL_LEVEL },
      device: { id: this.identity.id, name: this.identity.name, kind: "web" },
      token: this.identity.token,
      capabilities: ["delta"],
      ...(epoch === undefined ? {} : { resume: { epoch, seq } }),
    };
  }

  private received(frame: ServerFrame): void {
    if (standing(this.state, frame) === "gap") return this.connection.resume();
    const before = this.state.openLane;
    if (frame.type === "hello.ack") this.marks.begin(frame.lanes, frame.epoch === this.state.epoch ? this.state.read : {});
    if (frame.type === "read.marked") this.marks.heard(frame, frame.order);
    // What a page means is known where it was asked for.
    if (frame.type !== "history") this.dispatch(frame);
    const after = this.state.openLane;
    if (!sameLane(before, after)) {
      if (frame.type === "message" || frame.type === "message.accepted") this.carry(before, after);
      if (this.connection.isOpen) this.fillLane();
    }
    if (frame.type === "typing" && frame.on) this.publishAfter((frame.ttl ?? 0) * 1000);
    this.requests.received(frame);
  }

  private carry(from: LaneAddress, to: LaneAddress): void {
    carryDraft(from, to);
    carryFiles(from, to);
  }

  private linkChanged(link: Link): void {
    this.link = link;
    if (link.kind !== "open") {
      this.looks.lost();
      this.requests.lost();
      this.outbox.disconnected();
      return this.show();
    }
    this.fillLane();
    this.tellLook();
    this.marks.flush();
    this.outbox.send();
    return this.show();
  }

  private transmit(pending: Pending): boolean {
    const { clientId, address, text, attachments, autoThread, quote, replaces } = pending;
    const extras = {
      ...(attachments.length === 0 ? {} : { attachments: attachments.map((file) => file.id) }),
      ...(autoThread ? { auto_thread: true } : {}),
      ...(quote === undefined ? {} : { reply_to: quote.message_id }),
      ...(replaces === undefined ? {} : { replaces }),
    };
    return this.connection.send({ type: "message.send", client_id: clientId, ...address, text, ...extras });
  }

  private askHistory(address: LaneAddress, before: number | undefined): void {
    if (!this.connection.isOpen) return;
    const place = before === undefined ? {} : { before };
    this.dispatch({ type: "local.historyAsked", address });
    this.requests.ask({ type: "history", client_id: this.mintId(), ...address, ...place, limit: this.pageSize }, (outcome) => {
      // With the connection gone it is asked again by itself; only a refusal is told.
      if (!outcome.ok && this.connection.isOpen) this.dispatch({ type: "local.historyFailed", address });
      if (outcome.ok) this.dispatch(outcome.answer);
    });
  }

  private askExcerpt(address: LaneAddress, place: PagePlace): void {
    this.dispatch({ type: "local.excerptAsked", address, place });
    this.requests.ask({ type: "history", client_id: this.mintId(), ...address, ...place, limit: this.pageSize }, (outcome) => {
      if (!outcome.ok) return this.dispatch({ type: "local.excerptFailed", address, place });
      this.dispatch({ type: "local.excerptArrived", address, place, page: outcome.answer });
    });
  }

  private get pageSize(): number {
    return Math.min(PAGE_SIZE, this.state.policy?.max_history ?? PAGE_SIZE);
  }

  private dispatch(action: Action): void {
    const next = reduce(this.state, action, this.around.now());
    const { outbox } = this.state;
    if (next === this.state) return;
    this.state = next;
    if (next.outbox !== outbox) this.outbox.changed(outbox, next.outbox);
    const { openLane, read, watching } = next;
    if (watching) this.marks.note(openLane, read[laneKey(openLane)] ?? 0);
    this.tellLook();
    this.show();
  }

  private tellLook(): void {
    this.looks.note(this.state.openLane, this.state.seq);
  }

  private show(): void {
    this.publish({ state: this.state, link: this.link });
  }

  /** `typing` ends by the clock, without a frame: the screen has to look again. */
  private publishAfter(delay: number): void {
    this.around.after(delay + 50, () => this.show());
  }
}
