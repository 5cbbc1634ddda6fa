import { hueOf, initialOf } from "../room.ts";
import type { Sender } from "../model.ts";

/** An initial in the colour of the name; agents are square, people round. For the eye: the name stands beside it. */
export function Face({ name, kind }: { name: string; kind: Sender["kind"] }) {
  return <span class={`face hue-${hueOf(name)} ${kind}`} data-initial={initialOf(name)} aria-hidden="true" />;
}
