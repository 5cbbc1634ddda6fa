/**
 * How this browser shows things: applied when they are drawn, while the log keeps everything.
 *
 * What storage holds is taken name by name: a value that is unknown here falls back to its default. A browser that keeps
 * nothing has settings until its page is closed.
 */
import { effect, signal } from "@preact/signals";
import type { Row } from "./rows.ts";

/** Every choice there is, its default first. */
export const CHOICES = {
  theme: ["system", "light", "dark"],
  textSize: ["normal", "small", "large", "larger"],
  language: ["system", "en", "zh"],
  enter: ["sends", "breaks"],
  tools: ["truncated", "everything", "nothing"],
  reasoning: ["collapsed", "open"],
  streaming: ["on", "off"],
} as const;

export type Settings = { readonly [Name in keyof typeof CHOICES]: (typeof CHOICES)[Name][number] };

const KEY = "iris.settings";

export const settings = signal<Settings>(settingsIn(null));

export function changeSettings(change: Partial<Settings>): void {
  settings.value = { ...settings.value, ...change };
}

export function settingsIn(written: string | null): Settings {
  const found = parsed(written);
  const taken = Object.entries(CHOICES).map(([name, choices]) => [name, choices.find((choice) => choice === found[name]) ?? choices[0]]);
  return Object.fromEntries(taken) as Settings;
}

/** What is left of a lane. Requests always are, and of the tool calls those that went wrong. */
export function shownRows(rows: readonly Row[], { streaming, tools }: Settings): readonly Row[] {
  if (streaming === "on" && tools !== "nothing") return rows;
  return rows.flatMap((row): Row[] => {
    if (row.kind === "tools" && tools === "nothing") {
      const wrong = row.tools.filter(({ state }) => state === "error" || state === "blocked");
      return wrong.length === 0 ? [] : [{ ...row, tools: wrong }];
    }
    return streaming === "off" && "entry" in row && row.entry.kind === "message" && row.entry.state === "live" ? [] : [row];
  });
}

/** Goes on with what was set here, in this page or in another of this browser, and shows it on the page itself. */
export function keepSettings(storage: Storage, page: Document): void {
  settings.value = settingsIn(storage.getItem(KEY));
  window.addEventListener("storage", ({ key, newValue }) => {
    if (key === KEY) settings.value = settingsIn(newValue);
  });
  effect(() => {
    const { theme, textSize } = settings.value;
    Object.assign(page.documentElement.dataset, { theme, textSize });
    for (const bar of page.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
      const own = bar.dataset["scheme"];
      bar.media = theme === "system" ? `(prefers-color-scheme: ${own})` : theme === own ? "all" : "not all";
    }
  });
  effect(() => {
    const written = JSON.stringify(settings.value);
    try {
      if (storage.getItem(KEY) !== written) storage.setItem(KEY, written);
    } catch (cause) {
      console.warn("Iris cannot keep the settings on this device.", cause);
    }
  });
}

function parsed(written: string | null): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = JSON.parse(written ?? "{}");
    return typeof found === "object" && found !== null ? (found as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
