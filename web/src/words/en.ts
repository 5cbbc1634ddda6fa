/**
 * What the app says, in English; its type is what every other language has to say, too.
 *
 * A sentence with something in it is a function, and each language puts it where its grammar wants it. Numbers come in
 * twice where they may be large: as they are, to choose a plural by, and as they are written.
 */
import { around } from "./en/around.ts";
import type { Later } from "./en/later.ts";
import { talk } from "./en/talk.ts";

export const en = { ...around, ...talk };

/** `later` is for parts that are fetched later: in English it comes with them, see `later.ts`. */
export type Words = typeof en & { readonly later?: Later };
