/** One file on its way to the gateway. */
import { refusal } from "./format.ts";
import { words } from "./language.ts";
import { credentials } from "./media.ts";
import type { Attachment } from "./protocol/frames.ts";

export type UploadResult =
  | { readonly ok: true; readonly attachment: Attachment }
  | { readonly ok: false; readonly message: string };

export interface Upload {
  /** Never fails; a cancelled one never ends. */
  readonly result: Promise<UploadResult>;
  cancel(): void;
}

/** `note` is how many seconds a recording takes; `progress` is told which part of the file has left. */
export function upload(file: File, note: number | undefined, progress: (part: number) => void): Upload {
  // `fetch` does not say how far it is.
  const request = new XMLHttpRequest();
  request.open("POST", note === undefined ? "/media" : `/media?note=${note.toFixed(3)}`);
  for (const [name, value] of Object.entries(credentials())) request.setRequestHeader(name, value);
  request.setRequestHeader("Content-Disposition", `attachment; filename*=UTF-8''${headerValue(file.name)}`);
  request.setRequestHeader("Content-Type", file.type || "application/octet-stream");
  const result = new Promise<UploadResult>((resolve) => {
    request.upload.onprogress = (event) => progress(event.total > 0 ? event.loaded / event.total : 0);
    request.onload = () => resolve(read(request.status, request.responseText));
    request.onerror = () => resolve({ ok: false, message: words.value.files.connectionLost });
    request.ontimeout = request.onerror;
  });
  request.send(file);
  return { result, cancel: () => request.abort() };
}

/** Half of a character, which `encodeURIComponent` does not take. */
const LONE_HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** RFC 8187: what may stand in an extended header value as it is. */
export function headerValue(text: string): string {
  return encodeURIComponent(text.replace(LONE_HALF, "\ufffd")).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** What the gateway, or something in between, has answered. */
export function read(status: number, body: string): UploadResult {
  const answer = parse(body);
  if (status === 201 && has(answer, "id")) return { ok: true, attachment: answer as unknown as Attachment };
  const message = has(answer, "message") && typeof answer["message"] === "string" ? refusal(String(answer["code"]), answer["message"]) : undefined;
  if (status === 413) return { ok: false, message: message ?? words.value.files.tooLargeSent };
  return { ok: false, message: message ?? words.value.files.refused(status) };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function has(value: unknown, key: string): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && key in value;
}
