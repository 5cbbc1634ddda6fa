/**
 * The files that a person is about to send, for each lane.
 *
 * A file goes up as soon as it is chosen. A message that is sent before all of its files are there waits for them; one
 * that fails, or a lost connection, leaves it waiting until the file was sent again or taken out.
 */
import { signal } from "@preact/signals";
import { words } from "./language.ts";
import { fileSize } from "./media.ts";
import { laneKey } from "./model.ts";
import type { Attachment, LaneAddress, LaneKey, Policy } from "./model.ts";
import { upload } from "./upload.ts";
import type { Upload, UploadResult } from "./upload.ts";

export interface Chosen {
  readonly id: number;
  readonly file: File;
  /** Of a recording: its seconds. */
  readonly note: number | undefined;
  /** An address of this page under which a picture, a film or a sound can be shown at once. */
  readonly preview: string | undefined;
  readonly state: "waiting" | "sending" | "done" | "failed";
  /** Which part of it has left. */
  readonly part: number;
  readonly attachment: Attachment | undefined;
  readonly error: string | undefined;
}

/** Files of one message; the gateway takes no more. */
export const MOST_FILES = 20;
const AT_ONCE = 3;

const chosen = signal<Readonly<Record<LaneKey, readonly Chosen[]>>>({});
/** The lanes whose message waits for its files. */
const held = signal<Readonly<Record<LaneKey, () => void>>>({});
const running = new Map<number, Upload>();
let count = 0;

export function chosenFor(address: LaneAddress): readonly Chosen[] {
  return chosen.value[laneKey(address)] ?? [];
}

export function isHeld(address: LaneAddress): boolean {
  return held.value[laneKey(address)] !== undefined;
}

/** Takes files in; gives why some were not, if any were not. */
export function choose(address: LaneAddress, files: readonly File[], policy: Policy | undefined, note?: number): string | undefined {
  const { taken, objection } = sorted(files, chosenFor(address).length, policy);
  const fresh = taken.map((file): Chosen => ({
    id: ++count, file, note, preview: previewOf(file), state: "waiting", part: 0, attachment: undefined, error: undefined,
  }));
  put(address, [...chosenFor(address), ...fresh]);
  pump(address);
  return objection;
}

/** Which files may be sent beside those that are there, and why the others may not. */
export function sorted(files: readonly File[], present: number, policy: Policy | undefined): { taken: readonly File[]; objection: string | undefined } {
  const largest = policy?.max_upload ?? Infinity;
  const fitting = files.filter((file) => file.size <= largest);
  const taken = fitting.slice(0, Math.max(0, MOST_FILES - present));
  const tooLarge = files.find((file) => file.size > largest);
  const objection = tooLarge !== undefined
    ? words.value.files.tooLarge(tooLarge.name, fileSize(tooLarge.size), fileSize(largest))
    : taken.length < fitting.length ? words.value.files.tooMany(MOST_FILES) : undefined;
  return { taken, objection };
}

export function retry(address: LaneAddress, id: number): void {
  change(address, id, { state: "waiting", part: 0, error: undefined });
  pump(address);
}

/** Takes a file out, wherever it is on its way. */
export function discard(address: LaneAddress, id: number): void {
  running.get(id)?.cancel();
  running.delete(id);
  forget(chosenFor(address).filter((each) => each.id === id));
  put(address, chosenFor(address).filter((each) => each.id !== id));
  if (chosenFor(address).length === 0) release(address);
  pump(address);
}

/** Runs `send` as soon as every file is there: at once, if they are. */
export function sendWhenReady(address: LaneAddress, send: (attachments: readonly Attachment[]) => void): void {
  held.value = {
    ...held.value,
    [laneKey(address)]: () => {
      const files = chosenFor(address);
      const attachments = files.map((each) => each.attachment).filter((each) => each !== undefined);
      if (attachments.length < files.length) return;
      release(address);
      put(address, []);
      forget(files);
      send(attachments);
    },
  };
  held.value[laneKey(address)]?.();
}

/** The message waits no longer: the person goes on writing it. */
export function release(address: LaneAddress): void {
  const { [laneKey(address)]: _, ...others } = held.value;
  held.value = others;
}

/** The message before opened a thread, and the person went on with the next one: its files go along. */
export function carryFiles(from: LaneAddress, to: LaneAddress): void {
  if (chosenFor(from).length === 0 || chosenFor(to).length > 0) return;
  put(to, chosenFor(from));
  put(from, []);
}

/** What was about to be sent belongs to the pairing, and goes with it. */
export function forgetFiles(): void {
  for (const each of running.values()) each.cancel();
  running.clear();
  held.value = {};
  forget(Object.values(chosen.value).flat());
  chosen.value = {};
}

function pump(address: LaneAddress): void {
  const files = chosenFor(address);
  const free = AT_ONCE - files.filter((each) => each.state === "sending").length;
  for (const each of files.filter((candidate) => candidate.state === "waiting").slice(0, Math.max(0, free))) start(address, each);
  held.value[laneKey(address)]?.();
}

function start(address: LaneAddress, { id, file, note }: Chosen): void {
  const going = upload(file, note, (part) => change(placeOf(id) ?? address, id, { part }));
  running.set(id, going);
  change(address, id, { state: "sending", part: 0 });
  void going.result.then((result) => {
    running.delete(id);
    ended(placeOf(id) ?? address, id, result);
  });
}

function ended(address: LaneAddress, id: number, result: UploadResult): void {
  if (result.ok) change(address, id, { state: "done", part: 1, attachment: result.attachment });
  else change(address, id, { state: "failed", error: result.message });
  pump(address);
}

/** The lane in which a file stands by now. */
function placeOf(id: number): LaneAddress | undefined {
  const key = Object.keys(chosen.value).find((candidate) => chosen.value[candidate]?.some((each) => each.id === id));
  if (key === undefined) return undefined;
  const [chat_id = "", thread_id] = key.split("/");
  return thread_id === undefined ? { chat_id } : { chat_id, thread_id };
}

function change(address: LaneAddress, id: number, changes: Partial<Chosen>): void {
  put(address, chosenFor(address).map((each) => (each.id === id ? { ...each, ...changes } : each)));
}

function put(address: LaneAddress, files: readonly Chosen[]): void {
  const { [laneKey(address)]: _, ...others } = chosen.value;
  chosen.value = files.length === 0 ? others : { ...others, [laneKey(address)]: files };
}

function forget(files: readonly Chosen[]): void {
  for (const { preview } of files) if (preview !== undefined) URL.revokeObjectURL(preview);
}

function previewOf(file: File): string | undefined {
  return /^(image\/(png|jpeg|gif|webp|avif)|audio\/|video\/)/.test(file.type) ? URL.createObjectURL(file) : undefined;
}
