/**
 * Sends what the person wrote, and keeps it on this device until the gateway has it.
 *
 * A message is written down before it is sent, under the id with which it is sent again after whatever happens; of one
 * lane, one is under way at a time, so that they arrive in order. Each row belongs to the page that wrote it, and only
 * that page sends, changes and deletes it; the rows of a page that is gone go to one of those that are left.
 */
import { laneKey } from "./model.ts";
import type { LocalAction, Pending } from "./model.ts";
import type { Tabs, Word } from "./tabs.ts";

/** A message as it is written down. */
export interface Row {
  /** The page that it belongs to. */
  readonly owner: string;
  readonly pending: Pending;
}

export interface RowStore {
  rows(): Promise<readonly Row[]>;
  put(row: Row): Promise<void>;
  drop(clientId: string): Promise<void>;
}

/** What the pages of one pairing share. */
export interface Shared {
  readonly store: RowStore;
  readonly tabs: Tabs;
}

interface Owner {
  rows(): readonly Pending[];
  /** Gives whether the message left. */
  transmit(pending: Pending): boolean;
  dispatch(action: LocalAction): void;
}

export class Outbox {
  private readonly owner: Owner;
  private readonly shared: Shared | undefined;
  private readonly underWay = new Set<string>();
  private readonly writing = new Map<string, Promise<void>>();
  private readonly watched = new Set<string>();

  constructor(owner: Owner, shared: Shared | undefined) {
    this.owner = owner;
    this.shared = shared;
  }

  /** Takes over what pages that are gone left, and listens to those that are here. */
  begin(): void {
    this.shared?.tabs.hear((word) => this.heard(word));
    void this.look();
  }

  /** The rows changed from these to those. */
  changed(before: readonly Pending[], after: readonly Pending[]): void {
    const old = new Map(before.map((pending) => [pending.clientId, pending]));
    for (const pending of after) {
      if (!pending.elsewhere && old.get(pending.clientId) !== pending) this.keep(pending);
      old.delete(pending.clientId);
    }
    for (const pending of old.values()) if (!pending.elsewhere) this.lose(pending.clientId);
    this.send();
  }

  /** Sends the first message of each lane that has not left on this connection. */
  send(): void {
    const lanes = new Set<string>();
    for (const pending of this.owner.rows()) {
      if (pending.elsewhere || pending.state !== "pending") continue;
      const lane = laneKey(pending.address);
      if (lanes.has(lane)) continue;
      lanes.add(lane);
      const { clientId } = pending;
      const waits = this.underWay.has(clientId) || this.writing.has(clientId);
      if (!waits && this.owner.transmit(pending)) this.underWay.add(clientId);
    }
  }

  /** Whatever was under way may be lost. */
  disconnected(): void {
    this.underWay.clear();
  }

  retry(clientId: string): void {
    this.command({ kind: "retry", clientId });
  }

  discard(clientId: string): void {
    this.command({ kind: "discard", clientId });
  }

  private command(word: Exclude<Word, { kind: "outboxChanged" }>): void {
    const pending = this.owner.rows().find((candidate) => candidate.clientId === word.clientId);
    if (pending?.elsewhere) this.shared?.tabs.tell(word);
    else this.owner.dispatch({ type: word.kind === "retry" ? "local.retried" : "local.discarded", clientId: word.clientId });
  }

  private heard(word: Word): void {
    if (word.kind === "outboxChanged") void this.look();
    else if (this.owner.rows().some((pending) => pending.clientId === word.clientId && !pending.elsewhere)) this.command(word);
  }

  /** Reads what the others wrote, and what `gone` left as its own. */
  private async look(gone?: string): Promise<void> {
    if (this.shared === undefined) return;
    const { store, tabs } = this.shared;
    try {
      const others = (await store.rows()).filter((row) => row.owner !== tabs.id);
      this.owner.dispatch({ type: "local.outboxShared", rows: others.map(({ owner, pending }) => ({ ...pending, elsewhere: owner !== gone })) });
      const rows = new Set(this.owner.rows().map((pending) => pending.clientId));
      for (const { owner, pending } of others) {
        if (owner !== gone) this.watch(owner);
        else if (!rows.has(pending.clientId)) this.lose(pending.clientId);
      }
    } catch (cause) {
      console.warn("Iris cannot read the outbox of this device.", cause);
    }
  }

  private watch(page: string): void {
    if (this.shared === undefined || this.watched.has(page)) return;
    this.watched.add(page);
    this.shared.tabs.afterEnd(page, async () => {
      await this.look(page);
      await Promise.all(this.writing.values());
    });
  }

  private keep(pending: Pending): void {
    this.underWay.delete(pending.clientId);
    if (this.shared === undefined) return;
    const { store, tabs } = this.shared;
    this.write(pending.clientId, store.put({ owner: tabs.id, pending }));
  }

  private lose(clientId: string): void {
    this.underWay.delete(clientId);
    if (this.shared !== undefined) this.write(clientId, this.shared.store.drop(clientId));
  }

  /** Later writes to the same row are done after earlier ones, by the order of transactions. */
  private write(clientId: string, work: Promise<void>): void {
    const done = work
      .catch((cause: unknown) => console.warn(`Iris cannot keep message ${clientId} on this device.`, cause))
      .then(() => {
        if (this.writing.get(clientId) !== done) return;
        this.writing.delete(clientId);
        this.shared?.tabs.tell({ kind: "outboxChanged" });
        this.send();
      });
    this.writing.set(clientId, done);
  }
}
