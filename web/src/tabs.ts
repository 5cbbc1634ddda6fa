/**
 * The pages of one pairing in this browser, and who of them does what is done once.
 *
 * Each page holds a lock as long as it lives, so that another one that gets this lock knows that it is gone: closed,
 * crashed or reloaded. Where the browser has no locks (they need a secure context), every page is taken to be alone.
 */

/** What one page tells the others. */
export type Word =
  | { readonly kind: "outboxChanged" }
  | { readonly kind: "retry" | "discard"; readonly clientId: string };

export class Tabs {
  readonly id: string;
  private readonly name: string;
  private readonly locks: LockManager | undefined;
  private readonly channel: BroadcastChannel | undefined;
  private readonly closed = new AbortController();

  private constructor(name: string, id: string, locks: LockManager | undefined) {
    this.name = name;
    this.id = id;
    this.locks = locks;
    if (locks !== undefined) this.channel = new BroadcastChannel(name);
  }

  /** Resolves once the other pages can tell that this one is here. */
  static async join(device: string, id: string, locks: LockManager | undefined): Promise<Tabs> {
    const tabs = new Tabs(`iris:${device}`, id, locks);
    await tabs.hold(id);
    return tabs;
  }

  hear(listener: (word: Word) => void): void {
    this.channel?.addEventListener("message", (event: MessageEvent<Word>) => listener(event.data));
  }

  tell(word: Word): void {
    if (!this.closed.signal.aborted) this.channel?.postMessage(word);
  }

  /** Runs the work in one of the pages, once that page is gone; until it is done no other begins it. */
  afterEnd(id: string, work: () => Promise<void>): void {
    if (this.locks === undefined) void work();
    else void this.request(id, work);
  }

  /** Runs the work in the one page that saves for all of them, as soon as this is the one. */
  lead(begin: () => void): void {
    if (this.locks !== undefined) void this.hold("leader").then(begin);
  }

  close(): void {
    this.channel?.close();
    this.closed.abort();
  }

  /** Resolves when this page has the lock; it gives it back when it closes. */
  private hold(what: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.locks === undefined) return resolve();
      void this.request(what, () => {
        resolve();
        return new Promise((release) => this.closed.signal.addEventListener("abort", () => release()));
      });
    });
  }

  private async request(what: string, work: () => Promise<void>): Promise<void> {
    const { signal } = this.closed;
    try {
      await this.locks?.request(`${this.name}:${what}`, { signal }, work);
    } catch (cause) {
      if (!signal.aborted) throw cause;
    }
  }
}
