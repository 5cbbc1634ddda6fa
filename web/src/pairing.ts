/** How this browser becomes a device of the gateway, and how it remembers that it is one. */
import { refusal } from "./format.ts";
import { words } from "./language.ts";

export interface Identity {
  readonly id: string;
  readonly token: string;
  readonly name: string;
}

export type PairingResult =
  | { readonly ok: true; readonly identity: Identity }
  | { readonly ok: false; readonly message: string };

const STORAGE_KEY = "iris.device";

/** Finds the code in what a person pasted: the bare code, or the whole link that `iris pair` prints. */
export function codeFrom(pasted: string): string {
  const fragment = /#pair=([^&\s]+)/.exec(pasted);
  const code = fragment?.[1] ?? pasted.trim();
  try {
    return decodeURIComponent(code);
  } catch {
    return code;
  }
}

/** A name by which a person knows this browser in a list of devices. */
export function deviceName(userAgent: string): string {
  const browser = /Edg\//.test(userAgent) ? "Edge"
    : /OPR\//.test(userAgent) ? "Opera"
    : /Firefox\/|FxiOS\//.test(userAgent) ? "Firefox"
    : /Chrome\/|CriOS\//.test(userAgent) ? "Chrome"
    : /Safari\//.test(userAgent) ? "Safari"
    : words.value.pairing.browser;
  const system = /iPhone/.test(userAgent) ? "iPhone"
    : /iPad/.test(userAgent) ? "iPad"
    : /Android/.test(userAgent) ? "Android"
    : /Windows/.test(userAgent) ? "Windows"
    : /Mac OS X|Macintosh/.test(userAgent) ? "Mac"
    : /CrOS/.test(userAgent) ? "ChromeOS"
    : /Linux/.test(userAgent) ? "Linux"
    : undefined;
  return system === undefined ? browser : words.value.pairing.browserOn(browser, system);
}

export async function pair(code: string, name: string): Promise<PairingResult> {
  try {
    const answer = await fetch("/pair", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code, name, kind: "web" }),
    });
    const body: unknown = await answer.json().catch(() => undefined);
    if (answer.ok && isGrant(body)) return { ok: true, identity: { id: body.device_id, token: body.token, name } };
    return { ok: false, message: refusalOf(body) ?? words.value.pairing.refused(answer.status) };
  } catch {
    return { ok: false, message: words.value.pairing.unreachable };
  }
}

function isGrant(body: unknown): body is { device_id: string; token: string } {
  return has(body, "device_id") && typeof body.device_id === "string" && has(body, "token") && typeof body.token === "string";
}

function refusalOf(body: unknown): string | undefined {
  return has(body, "message") && typeof body.message === "string" ? refusal(has(body, "code") ? String(body.code) : "", body.message) : undefined;
}

function has<Key extends string>(value: unknown, key: Key): value is Record<Key, unknown> {
  return typeof value === "object" && value !== null && key in value;
}

export function remember(identity: Identity): void {
  localStorage.setItem(STORAGE_KEY, JSON.stringify(identity));
}

export function remembered(): Identity | undefined {
  const stored = localStorage.getItem(STORAGE_KEY);
  if (stored === null) return undefined;
  try {
    const identity: unknown = JSON.parse(stored);
    const complete = has(identity, "id") && has(identity, "token") && has(identity, "name");
    return complete ? { id: String(identity.id), token: String(identity.token), name: String(identity.name) } : undefined;
  } catch {
    return undefined;
  }
}

/** Another page may have paired anew meanwhile: that is not forgotten. */
export function forget(identity: Identity): void {
  if (remembered()?.id === identity.id) localStorage.removeItem(STORAGE_KEY);
}
