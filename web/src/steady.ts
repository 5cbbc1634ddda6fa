import { computed } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";

/** A signal that is the same object as long as what it holds is: whoever reads it is not called for anything else. */
export function steady<T extends object>(make: () => T): ReadonlySignal<T> {
  let held: T | undefined;
  return computed(() => {
    const made = make();
    const names = Object.keys(made) as (keyof T)[];
    if (held === undefined || names.some((name) => made[name] !== held?.[name])) held = made;
    return held;
  });
}
