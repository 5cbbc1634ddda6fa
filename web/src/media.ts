/**
 * Files of messages, as the gateway keeps them.
 *
 * A picture or a film is fetched by the browser itself, which cannot send a token in a header: once per visit the token
 * is exchanged for a cookie that opens files and nothing else. No address ever carries either of them.
 */
import { signal } from "@preact/signals";
import { words } from "./language.ts";
import type { Attachment } from "./protocol/frames.ts";

/** Whether the browser may fetch files by itself. */
export const admitted = signal(false);

/** Counts the connections to the gateway: with each, what could not be loaded is tried again. */
export const visits = signal(0);

let token: string | undefined;
let asking: Promise<void> | undefined;

/** Whose files are read and sent from here on. */
export function useToken(next: string | undefined): void {
  token = next;
  admitted.value = false;
}

/** What a request of our own carries. */
export function credentials(): Record<string, string> {
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}

/** Gets the cookie; asked for again after every pause, since the gateway may have been another one meanwhile. */
export function askAdmission(): Promise<void> {
  asking ??= fetch("/media/ticket", { method: "POST", headers: credentials() })
    .then((answer) => {
      admitted.value = answer.ok;
    })
    .catch(() => undefined)
    .finally(() => {
      asking = undefined;
    });
  return asking;
}

export function addressOfFile(id: string): string {
  return `/media/${id}`;
}

export function addressOfDownload(id: string): string {
  return `/media/${id}?download`;
}

const UNITS = ["B", "KB", "MB", "GB"];

/** `312 B`, `4.7 KB`, `12 MB`. */
export function fileSize(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${UNITS[power]}`;
}

/** `0:07`, `12:40`, `1:02:03`. */
export function playTime(seconds: number): string {
  const whole = Number.isFinite(seconds) ? Math.max(0, Math.round(seconds)) : 0;
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const rest = String(whole % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** The end of a name, as people know types of files; nothing when there is none. */
export function suffixOf(name: string): string {
  const end = /[^.]\.([A-Za-z0-9]{1,8})$/.exec(name);
  return end?.[1]?.toUpperCase() ?? "";
}

/** The largest text that is shown in its card. */
const MOST_PREVIEW = 200_000;

/** Whether a file can be read in its card. */
export function isReadable(file: Attachment): boolean {
  return file.size <= MOST_PREVIEW && (file.type.startsWith("text/") || file.type === "application/json" || file.type === "application/xml");
}

/** Asks for the text of a file; fails with what to tell the person. */
export async function textOf(file: Attachment): Promise<string> {
  const answer = await fetch(addressOfFile(file.id), { headers: credentials() });
  if (!answer.ok) throw new Error(answer.status === 404 ? words.value.files.notKept : words.value.files.notLoaded);
  return answer.text();
}

/** A message's files by the way they are shown: pictures side by side, then everything else in its order. */
export function parted(files: readonly Attachment[]): { pictures: readonly Attachment[]; others: readonly Attachment[] } {
  return { pictures: files.filter((file) => file.kind === "image"), others: files.filter((file) => file.kind !== "image") };
}
