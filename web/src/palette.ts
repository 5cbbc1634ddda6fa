/** What can be done from the palette, by a few letters of its name. */
import { fold } from "./switcher.ts";
import { later } from "./words/later.ts";

export const COMMANDS = ["newChannel", "newTopic", "settings", "devices", "keys", "themeLight", "themeDark", "themeSystem"] as const;
export type Command = (typeof COMMANDS)[number];

const MOST = 5;
const SHORTEST = 2;

/** Those whose name, or a word in it, begins with the letters. */
export function commandsLike(query: string): readonly Command[] {
  const letters = fold(query);
  if (letters.length < SHORTEST && !/[^\x00-\x7f]/.test(letters)) return [];
  return COMMANDS.filter((command) => ` ${fold(later.value.commands[command])}`.includes(isCjk(letters) ? letters : ` ${letters}`)).slice(0, MOST);
}

/** Scripts that write no spaces between words. */
function isCjk(letters: string): boolean {
  return /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(letters);
}
