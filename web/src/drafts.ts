/**
 * What a person is writing, for each lane. Kept outside the log of the gateway: it changes with every key.
 *
 * Each key is written down at once, each lane by itself: a reload loses nothing, and pages that write in different
 * lanes do not overwrite each other.
 */
import { effect, signal } from "@preact/signals";
import { laneKey } from "./model.ts";
import type { Attachment, LaneAddress, LaneKey, Quote } from "./model.ts";

/** The person's last message, while it is written anew. */
export interface Edited {
  readonly id: string;
  readonly attachments: readonly Attachment[];
  /** What stood in the field before. */
  readonly before: Pick<Draft, "text" | "answers">;
}

export interface Draft {
  readonly text: string;
  /** What is being answered. */
  readonly answers: Quote | undefined;
  readonly edits: Edited | undefined;
}

const EMPTY_DRAFT: Draft = { text: "", answers: undefined, edits: undefined };
const PREFIX = "iris.draft:";
const drafts = signal<Readonly<Record<LaneKey, Draft>>>({});

export function draftOf(address: LaneAddress): Draft {
  return drafts.value[laneKey(address)] ?? EMPTY_DRAFT;
}

export function writeDraft(address: LaneAddress, change: Partial<Draft>): void {
  drafts.value = { ...drafts.value, [laneKey(address)]: { ...draftOf(address), ...change } };
}

export function dropDraft(address: LaneAddress): void {
  const { [laneKey(address)]: _, ...others } = drafts.value;
  drafts.value = others;
}

/** Gives up what is being done besides writing, the last first; whether there was anything. */
export function stepBack(address: LaneAddress): boolean {
  const { answers, edits } = draftOf(address);
  if (edits !== undefined) writeDraft(address, { ...edits.before, edits: undefined });
  else if (answers !== undefined) writeDraft(address, { answers: undefined });
  else return false;
  return true;
}

/** The person went on writing while the message before opened a thread: what is written goes along. */
export function carryDraft(from: LaneAddress, to: LaneAddress): void {
  const { text, edits } = draftOf(from);
  if (text === "" || edits !== undefined || draftOf(to).text !== "") return;
  writeDraft(to, { text });
  writeDraft(from, { text: "" });
}

/** Goes on with what was being written here, and writes down what is written from now on. Gives what ends that. */
export function keepDrafts(storage: Storage): () => void {
  const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? "").filter((key) => key.startsWith(PREFIX));
  let written: typeof drafts.value = Object.fromEntries(keys.map((key) => [key.slice(PREFIX.length), draftIn(storage.getItem(key))]));
  drafts.value = written;
  return effect(() => {
    const before = written;
    written = drafts.value;
    for (const key of new Set([...Object.keys(before), ...Object.keys(written)])) {
      if (before[key] !== written[key]) write(storage, PREFIX + key, written[key]);
    }
  });
}

/** What was being written belongs to the pairing, and goes with it. */
export function wipeDrafts(): void {
  drafts.value = {};
}

function write(storage: Storage, key: string, draft: Draft | undefined): void {
  try {
    if (draft === undefined || (draft.text === "" && draft.answers === undefined && draft.edits === undefined)) storage.removeItem(key);
    else storage.setItem(key, JSON.stringify(draft));
  } catch (cause) {
    console.warn("Iris cannot keep this draft over a reload.", cause);
  }
}

function draftIn(stored: string | null): Draft {
  try {
    const { text = "", answers, edits } = JSON.parse(stored ?? "{}") as Partial<Draft>;
    // An earlier version of the app named what is answered in another way.
    return { text, answers: answers?.message_id === undefined ? undefined : answers, edits };
  } catch {
    return EMPTY_DRAFT;
  }
}
