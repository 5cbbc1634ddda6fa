/** What the app says, in simplified Chinese. */
import type { Words } from "./en.ts";
import { around } from "./zh/around.ts";
import { later } from "./zh/later.ts";
import { talk } from "./zh/talk.ts";

export const zh: Words = { ...around, ...talk, later };
