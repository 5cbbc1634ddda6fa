/**
 * The language of the interface, and its words.
 *
 * English is part of the app and every text begins with it; any other language is fetched when it is wanted. Whoever
 * reads `words.value` while drawing is drawn anew in the next language.
 */
import { batch, computed, effect, signal } from "@preact/signals";
import { settings } from "./settings.ts";
import type { Settings } from "./settings.ts";
import { en } from "./words/en.ts";
import type { Words } from "./words/en.ts";

export type Language = Exclude<Settings["language"], "system">;

const LOADERS: Readonly<Record<Language, () => Promise<Words>>> = {
  en: () => Promise.resolve(en),
  zh: async () => (await import("./words/zh.ts")).zh,
};

/** As `lang` names them: it also chooses the shapes of the letters. */
const TAGS: Readonly<Record<Language, string>> = { en: "en", zh: "zh-CN" };

const SPOKEN = Object.keys(LOADERS) as readonly Language[];

export const language = signal<Language>("en");
export const words = signal<Words>(en);

const preferred = signal<readonly string[]>(navigator.languages);
const wanted = computed(() => languageFor(settings.value.language, preferred.value));

/** How numbers and dates are written: as in the person's own region, where its language is the one of the interface. */
export const locale = computed(() => localeFor(language.value, preferred.value));

/** What was chosen, or the first language of the browser that is spoken here. */
export function languageFor(choice: Settings["language"], browser: readonly string[]): Language {
  if (choice !== "system") return choice;
  return browser.map((tag) => SPOKEN.find((spoken) => isOf(tag, spoken))).find((spoken) => spoken !== undefined) ?? "en";
}

/** Whoever reads the app in another language than the browser's still has a clock of 12 or 24 hours as before. */
export function localeFor(spoken: Language, browser: readonly string[]): string {
  const { hourCycle = "h23" } = new Intl.DateTimeFormat(browser[0], { hour: "numeric" }).resolvedOptions();
  return new Intl.Locale(browser.find((tag) => isOf(tag, spoken)) ?? TAGS[spoken], { hourCycle }).toString();
}

/** Speaks the language that is wanted, now and later; done when the first one is here. `failed` is told of one that is not. */
export function keepLanguage(page: Document, failed: () => void): Promise<void> {
  addEventListener("languagechange", () => (preferred.value = navigator.languages));
  effect(() => {
    page.documentElement.lang = TAGS[language.value];
    page.documentElement.style.setProperty("--word-image", JSON.stringify(words.value.common.imageAt));
  });
  let first = Promise.resolve();
  effect(() => {
    if (wanted.value !== language.peek()) first = speak(wanted.value).catch(failed);
  });
  return first;
}

async function speak(next: Language): Promise<void> {
  const spoken = await LOADERS[next]();
  // Another one may have been chosen meanwhile.
  if (next !== wanted.peek()) return;
  batch(() => {
    language.value = next;
    words.value = spoken;
  });
}

function isOf(tag: string, spoken: Language): boolean {
  return tag.toLowerCase().split("-")[0] === spoken;
}
