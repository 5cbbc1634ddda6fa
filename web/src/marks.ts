/** Tells the gateway how far the person has read: seldom, only forwards, and again after a loss of the connection. */
import { addressOf, laneKey } from "./model.ts";
import type { LaneAddress, LaneKey } from "./model.ts";
import type { LaneStatus } from "./protocol/frames.ts";

/** Reading goes on while answers come in; the gateway needs only to know where it came to rest. */
export const MARK_DELAY = 400;

interface Mark {
  readonly address: LaneAddress;
  readonly order: number;
}

export class Marks {
  private readonly after: (delay: number, work: () => void) => () => void;
  /** Gives whether the mark left. */
  private readonly transmit: (address: LaneAddress, order: number) => boolean;
  private readonly told = new Map<LaneKey, number>();
  private readonly untold = new Map<LaneKey, Mark>();
  private scheduled = false;

  constructor(after: Marks["after"], transmit: Marks["transmit"]) {
    this.after = after;
    this.transmit = transmit;
  }

  /** The person has read up to here. */
  note(address: LaneAddress, order: number): void {
    const key = laneKey(address);
    if (order <= (this.told.get(key) ?? 0) || order <= (this.untold.get(key)?.order ?? 0)) return;
    this.untold.set(key, { address: addressOf(address), order });
    if (this.scheduled) return;
    this.scheduled = true;
    this.after(MARK_DELAY, () => {
      this.scheduled = false;
      this.flush();
    });
  }

  /** The gateway knows this much. */
  heard(address: LaneAddress, order: number): void {
    const key = laneKey(address);
    this.told.set(key, Math.max(order, this.told.get(key) ?? 0));
    if ((this.untold.get(key)?.order ?? 0) <= order) this.untold.delete(key);
  }

  flush(): void {
    for (const { address, order } of [...this.untold.values()]) if (this.transmit(address, order)) this.heard(address, order);
  }

  /**
   * What the gateway knows when a connection begins; it may have forgotten what it was told before, or never heard
   * what was `read` without a connection.
   */
  begin(lanes: readonly LaneStatus[], read: Readonly<Record<LaneKey, number>>): void {
    this.told.clear();
    for (const lane of lanes) {
      if (lane.read !== undefined) this.heard(lane, lane.read);
      this.note(lane, read[laneKey(lane)] ?? 0);
    }
  }
}
