/**
 * What turns Markdown into HTML, and the gate behind it. It comes by itself, while the app already talks to the gateway; a text that is here
 * sooner is shown as it was written for that moment.
 */
import { signal } from "@preact/signals";
import { loadGate } from "./sanitise.ts";
import type { Gate } from "./sanitise.ts";

const RETRY = 3_000;

type Engine = typeof import("./markdown.ts") & { readonly sanitise: Gate };

export const engine = signal<Engine | undefined>(undefined);

export function loadEngine(): void {
  Promise.all([import("./markdown.ts"), loadGate()]).then(
    ([markdown, sanitise]) => (engine.value = { ...markdown, sanitise }),
    () => setTimeout(loadEngine, RETRY),
  );
}
