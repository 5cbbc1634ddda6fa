/** Tells the gateway which lane the person has in front of them, so that nobody is called for it. */
import { addressOf, laneKey } from "./model.ts";
import type { LaneAddress } from "./model.ts";

export class Looks {
  /** Gives whether it left. `seq` is the last event that is here: what is newer was in front of nobody. */
  private readonly transmit: (address: LaneAddress | undefined, seq: number) => boolean;
  private attentive = false;
  /** What the gateway knows; a connection begins with nothing in the foreground. */
  private told: string | undefined;

  constructor(transmit: Looks["transmit"]) {
    this.transmit = transmit;
  }

  /** Whether the page itself is in front of the person. */
  attend(on: boolean): void {
    this.attentive = on;
  }

  lost(): void {
    this.told = undefined;
  }

  note(openLane: LaneAddress, seq: number): void {
    const address = this.attentive ? addressOf(openLane) : undefined;
    const now = address && laneKey(address);
    if (now !== this.told && this.transmit(address, seq)) this.told = now;
  }
}
