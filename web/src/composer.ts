/** What a key in the composer means, and whether a text may be sent. */
import { characterCount, written } from "./format.ts";
import { words } from "./language.ts";
import type { Policy } from "./protocol/frames.ts";
import type { Settings } from "./settings.ts";
import { isPressed } from "./shortcuts.ts";
import type { Press } from "./shortcuts.ts";

export interface KeyPress extends Press {
  readonly isComposing: boolean;
  readonly keyCode: number;
}

export type KeyMeaning = "send" | "recall" | "none";

/** Browsers report this while an input method is still composing, some of them without setting `isComposing`. */
const COMPOSING_KEY_CODE = 229;
/** Room in a frame for everything but the text. */
const FRAME_OVERHEAD = 512;

/** Whether a key belongs to an input method, and means nothing to anybody else. */
export function isComposingKey(press: Pick<KeyPress, "isComposing" | "keyCode">): boolean {
  return press.isComposing || press.keyCode === COMPOSING_KEY_CODE;
}

/** `enter` tells whether Enter sends, or begins a new line so that Ctrl+Enter does (on a Mac, ⌘ Enter too). */
export function meaningOf(press: KeyPress, draft: string, enter: Settings["enter"]): KeyMeaning {
  if (isComposingKey(press)) return "none";
  if (isPressed("send", press, enter)) return "send";
  return draft === "" && isPressed("recall", press) ? "recall" : "none";
}

/** Which of its two faces the button shows; `nothing` is when there is nothing to send. */
export function buttonFace(nothing: boolean, busy: boolean): "send" | "stop" {
  return busy && nothing ? "stop" : "send";
}

/** Says why a text cannot be sent, or nothing when it can. */
export function objection(text: string, policy: Policy | undefined): string | undefined {
  if (policy === undefined) return undefined;
  const count = characterCount(text);
  if (count > policy.max_text) {
    return words.value.counts.characters(written(count), written(policy.max_text));
  }
  const bytes = new TextEncoder().encode(JSON.stringify(text)).length + FRAME_OVERHEAD;
  if (bytes > policy.max_frame) return words.value.composer.tooLarge;
  return undefined;
}
