/**
 * The keys of the chat, all of them: what is pressed is looked up here, and the sheet that lists them is drawn from here.
 *
 * Letters are known by the place of their key where Alt may be held: a Mac then types another one.
 */
import type { Settings } from "./settings.ts";

export interface Press {
  readonly key: string;
  readonly code: string;
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
}

/** `command` is Ctrl, or ⌘ on a Mac. */
interface Chord {
  readonly held?: "command" | "control" | "alt";
  /** Without a word on it, Shift is not held. */
  readonly shift?: "held" | "either";
  readonly key?: string;
  readonly code?: string;
  /** As it is written on the key. */
  readonly shown: string;
  /** For one choice of how a message is sent. */
  readonly enter?: Settings["enter"];
}

export const SHORTCUTS = {
  everywhere: {
    switch: [{ held: "command", code: "KeyK", shown: "K" }],
    searchHere: [{ held: "command", code: "KeyF", shown: "F" }],
    searchAll: [{ held: "command", shift: "held", code: "KeyF", shown: "F" }],
    previousChannel: [{ held: "alt", key: "ArrowUp", shown: "↑" }],
    nextChannel: [{ held: "alt", key: "ArrowDown", shown: "↓" }],
    // Browsers keep Ctrl+T; the installed app gets it.
    newTopic: [{ held: "alt", code: "KeyT", shown: "T" }, { held: "control", code: "KeyT", shown: "T" }],
    back: [{ key: "Escape", shown: "Esc" }],
    help: [{ shift: "either", key: "?", shown: "?" }, { held: "command", shift: "either", key: "/", shown: "/" }],
  },
  writing: {
    send: [{ key: "Enter", shown: "Enter", enter: "sends" }, { held: "command", key: "Enter", shown: "Enter", enter: "breaks" }],
    newLine: [{ shift: "held", key: "Enter", shown: "Enter", enter: "sends" }, { key: "Enter", shown: "Enter", enter: "breaks" }],
    recall: [{ key: "ArrowUp", shown: "↑" }],
  },
  messages: {
    messageMenu: [{ shift: "held", key: "F10", shown: "F10" }, { key: "ContextMenu", shown: "☰" }],
  },
} as const satisfies Record<string, Record<string, readonly Chord[]>>;

type Groups = typeof SHORTCUTS;
export type Group = keyof Groups;
export type Everywhere = keyof Groups["everywhere"];
export type Shortcut = { [Name in Group]: keyof Groups[Name] }[Group];

const CHORDS = Object.assign({}, ...Object.values(SHORTCUTS)) as Readonly<Record<Shortcut, readonly Chord[]>>;

/** What a key means everywhere in the chat. */
export function shortcutOf(press: Press): Everywhere | undefined {
  const names = Object.keys(SHORTCUTS.everywhere) as Everywhere[];
  return names.find((name) => isPressed(name, press));
}

export function isPressed(shortcut: Shortcut, press: Press, enter?: Settings["enter"]): boolean {
  return chordsOf(shortcut, enter).some((chord) => isChord(chord, press));
}

/** Whether a key types something, so that it means nothing where somebody writes. */
export function types({ key, ctrlKey, metaKey, altKey }: Pick<Press, "key" | "ctrlKey" | "metaKey" | "altKey">): boolean {
  return key.length === 1 && !ctrlKey && !metaKey && !altKey;
}

/** What is to be pressed, key by key, in each of the ways that there are. */
export function keysOf(shortcut: Shortcut, enter: Settings["enter"], isMac: boolean): readonly (readonly string[])[] {
  const names = { command: isMac ? "⌘" : "Ctrl", control: "Ctrl", alt: isMac ? "⌥" : "Alt" };
  return chordsOf(shortcut, enter).map(({ held, shift, shown }) => [
    ...(held === undefined ? [] : [names[held]]), ...(shift === "held" ? ["Shift"] : []), shown,
  ]);
}

function chordsOf(shortcut: Shortcut, enter: Settings["enter"] | undefined): readonly Chord[] {
  return CHORDS[shortcut].filter((chord) => chord.enter === undefined || chord.enter === enter);
}

function isChord(chord: Chord, press: Press): boolean {
  if (chord.code === undefined ? press.key !== chord.key : press.code !== chord.code) return false;
  if (chord.shift !== "either" && press.shiftKey !== (chord.shift === "held")) return false;
  const { ctrlKey, metaKey, altKey } = press;
  switch (chord.held) {
    case "command": return ctrlKey !== metaKey && !altKey;
    case "control": return ctrlKey && !metaKey && !altKey;
    case "alt": return altKey && !ctrlKey && !metaKey;
    default: return !ctrlKey && !metaKey && !altKey;
  }
}
