/** The words of what is fetched later: only that may import them, so that they come along with it. */
import { computed } from "@preact/signals";
import { words } from "../language.ts";
import { later as english } from "./en/later.ts";

export const later = computed(() => words.value.later ?? english);
