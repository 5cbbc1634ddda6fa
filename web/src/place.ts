/** A lane, or a message in it, as the address bar names it: `#/chan_7`, `#/default/t_31`, `#/chan_7@1700000000250000`. */
import type { LaneAddress } from "./model.ts";

const PREFIX = "android:";
const FRAGMENT = /^#\/([A-Za-z0-9_-]+)(?:\/([A-Za-z0-9_-]+))?(?:@(\d{1,16}))?$/;

export interface Place {
  readonly address: LaneAddress;
  /** The place of a message in the lane. */
  readonly order: number | undefined;
}

export function fragmentOf(address: LaneAddress, order?: number): string {
  const channel = address.chat_id.startsWith(PREFIX) ? address.chat_id.slice(PREFIX.length) : address.chat_id;
  const lane = address.thread_id === undefined ? `#/${channel}` : `#/${channel}/${address.thread_id}`;
  return order === undefined ? lane : `${lane}@${order}`;
}

export function placeIn(fragment: string): Place | undefined {
  const [, channel, thread, order] = FRAGMENT.exec(fragment) ?? [];
  if (channel === undefined) return undefined;
  const chat_id = PREFIX + channel;
  return { address: thread === undefined ? { chat_id } : { chat_id, thread_id: thread }, order: order === undefined ? undefined : Number(order) };
}

export function addressIn(fragment: string): LaneAddress | undefined {
  return placeIn(fragment)?.address;
}
