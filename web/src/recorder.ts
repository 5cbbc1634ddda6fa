/**
 * Writes the state down as it changes: seldom, one write at a time, and only where no other page does it.
 *
 * A page that takes over from another one replaces what was saved, because it may have read less of the log.
 */
import type { Surroundings } from "./connection.ts";
import type { State } from "./model.ts";
import { changesBetween, savedOf } from "./saved.ts";
import type { Changes, Saved } from "./saved.ts";

export const SAVE_DELAY = 400;

export class Recorder {
  private readonly save: (changes: Changes) => Promise<void>;
  private readonly after: Surroundings["after"];
  private newest: State | undefined;
  private saved: Saved | undefined;
  private chosen = false;
  private scheduled = false;

  constructor(save: Recorder["save"], after: Surroundings["after"]) {
    this.save = save;
    this.after = after;
  }

  /** From now on this page is the one that saves. */
  begin(): void {
    this.chosen = true;
    this.schedule();
  }

  note(state: State): void {
    if (state === this.newest) return;
    this.newest = state;
    this.schedule();
  }

  stop(): void {
    this.chosen = false;
  }

  private schedule(): void {
    if (this.scheduled || !this.chosen) return;
    this.scheduled = true;
    this.after(SAVE_DELAY, () => void this.write());
  }

  private async write(): Promise<void> {
    const state = this.newest;
    // Before the gateway told of itself there is nothing to come back to.
    if (this.chosen && state?.epoch !== undefined) await this.writeChanges(savedOf(state));
    this.scheduled = false;
    if (this.newest !== state) this.schedule();
  }

  private async writeChanges(next: Saved): Promise<void> {
    const changes = changesBetween(this.saved, next);
    if (changes === undefined) return;
    try {
      await this.save(changes);
      this.saved = next;
    } catch (cause) {
      this.stop();
      console.warn("Iris cannot save what it shows on this device; it will ask the gateway for it again.", cause);
    }
  }
}
