/**
 * What turns Markdown into HTML, and the gate behind it. It comes by itself, while the app already talks to the gateway; a text that is here
 * sooner is shown as it was written for that moment.
 */
import { signal } from "@preact/signals";

const RETRY = 3_000;

export const engine = signal<(typeof import("./markdown.ts") & typeof import("./sanitise.ts")) | undefined>(undefined);

export function loadEngine(): void {
  Promise.all([import("./markdown.ts"), import("./sanitise.ts")]).then(
    ([markdown, gate]) => (engine.value = { ...markdown, ...gate }),
    () => setTimeout(loadEngine, RETRY),
  );
}
