/**
 * Notifications of this browser: whether there can be any, and turning them on and off. Fetched when somebody wants them.
 *
 * The gateway knows where to call (a subscription at the browser's push service) and for what; nothing of it is kept here.
 */
import { laneKey } from "./model.ts";
import type { Language } from "./language.ts";
import type { LaneAddress, LaneKey } from "./model.ts";
import type { PushPreferences, PushState } from "./protocol/frames.ts";
import type { Session } from "./session.ts";
import type { Remembered } from "./worker/notes.ts";

export type Standing =
  /** No secure context; a browser that has none of it; one that has it in an installed app only; no service worker. */
  | { readonly kind: "impossible"; readonly why: "insecure" | "unsupported" | "uninstalled" | "unregistered" }
  | { readonly kind: "offline"; readonly message: string }
  /** The browser did not reach its push service. */
  | { readonly kind: "failed" }
  /** The gateway cannot call anybody, and says why. */
  | { readonly kind: "unavailable"; readonly message: string }
  | { readonly kind: "blocked" }
  | { readonly kind: "off" }
  | { readonly kind: "on"; readonly preferences: PushPreferences };

/** What is to be known of a browser. */
export interface Browser {
  readonly secure: boolean;
  readonly pushes: boolean;
  /** iOS and iPadOS call installed apps only. */
  readonly installs: boolean;
  readonly registered: boolean;
  readonly permission: NotificationPermission;
  readonly endpoint: string | undefined;
}

/** What a browser is called for at first: for everything, in no words of the conversation. */
export const DEFAULTS: PushPreferences = {};

export function standingOf(browser: Browser, told: PushState): Standing {
  if (!browser.secure) return { kind: "impossible", why: "insecure" };
  if (!browser.pushes) return { kind: "impossible", why: browser.installs ? "uninstalled" : "unsupported" };
  if (!told.available) return { kind: "unavailable", message: told.why ?? "" };
  if (!browser.registered) return { kind: "impossible", why: "unregistered" };
  if (browser.permission === "denied") return { kind: "blocked" };
  const isOn = browser.permission === "granted" && browser.endpoint !== undefined && browser.endpoint === told.endpoint;
  return isOn ? { kind: "on", preferences: told.preferences ?? DEFAULTS } : { kind: "off" };
}

export async function look(session: Session): Promise<Standing> {
  const [told, registration] = await Promise.all([ask(session), registered()]);
  if (typeof told === "string") return { kind: "offline", message: told };
  return standingOf(await browserNow(registration), told);
}

/** Asks for the permission, so it has to come from a press. */
export async function turnOn(session: Session, preferences: PushPreferences): Promise<Standing> {
  const permission = await Notification.requestPermission();
  if (permission !== "granted") return permission === "denied" ? { kind: "blocked" } : { kind: "off" };
  return subscribe(session, preferences);
}

/** Subscribes, anew if the gateway has another key than the one that the browser was given, or wants something else. */
export async function subscribe(session: Session, preferences: PushPreferences): Promise<Standing> {
  const [told, registration] = await Promise.all([ask(session), registered()]);
  if (typeof told === "string") return { kind: "offline", message: told };
  if (registration === undefined || !told.available) return standingOf(await browserNow(registration), told);
  const subscription = await subscriptionFor(registration, told.key ?? "").catch(() => undefined);
  if (subscription === undefined) return { kind: "failed" };
  const { endpoint = "", keys = {} } = subscription.toJSON();
  const { p256dh = "", auth = "" } = keys;
  const outcome = await session.request({ type: "push.subscribe", endpoint, p256dh, auth, preferences });
  return outcome.ok ? { kind: "on", preferences } : { kind: "offline", message: outcome.message };
}

export async function turnOff(session: Session): Promise<Standing> {
  const outcome = await session.request({ type: "push.unsubscribe" });
  if (!outcome.ok) return { kind: "offline", message: outcome.message };
  await end();
  return { kind: "off" };
}

/** After each hello: the browser or the gateway may have lost the subscription that the other one still has. */
export async function keep(session: Session, language: Language): Promise<void> {
  const [told, registration] = await Promise.all([ask(session), registered()]);
  if (typeof told === "string" || !told.available || registration === undefined) return;
  const { permission, endpoint } = await browserNow(registration);
  const wanted = endpoint !== undefined || told.endpoint !== undefined;
  if (permission === "denied" && told.endpoint !== undefined) await session.request({ type: "push.unsubscribe" });
  if (permission !== "granted" || !wanted) return;
  const subscription = await registration.pushManager.getSubscription();
  const isWhole = subscription !== null && endpoint === told.endpoint && hasKey(subscription, told.key ?? "");
  const preferences = { ...DEFAULTS, ...told.preferences, language };
  if (!isWhole || told.preferences?.language !== language) await subscribe(session, preferences);
}

/** Nothing calls this browser any more, and nothing that it shows is left. */
export async function end(): Promise<void> {
  const registration = await registered();
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
  for (const each of (await registration?.getNotifications()) ?? []) each.close();
}

/** Closes what was read meanwhile, here or elsewhere, and what is in front of the person. */
export async function tidy(read: Readonly<Record<LaneKey, number>>, shown: LaneAddress | undefined): Promise<void> {
  const registration = await registered();
  for (const each of (await registration?.getNotifications()) ?? []) {
    const { chat_id, thread_id, order } = each.data as Remembered;
    const key = laneKey({ chat_id, ...(thread_id === undefined ? {} : { thread_id }) });
    if (order <= (read[key] ?? 0) || (shown !== undefined && laneKey(shown) === key)) each.close();
  }
}

async function ask(session: Session): Promise<PushState | string> {
  const outcome = await session.request({ type: "push.get" });
  return outcome.ok ? outcome.answer : outcome.message;
}

async function registered(): Promise<ServiceWorkerRegistration | undefined> {
  const workers: ServiceWorkerContainer | undefined = navigator.serviceWorker;
  return workers?.getRegistration();
}

async function browserNow(registration: ServiceWorkerRegistration | undefined): Promise<Browser> {
  const pushes = "PushManager" in globalThis && "Notification" in globalThis;
  return {
    secure: isSecureContext,
    pushes,
    installs: "standalone" in navigator && navigator.standalone === false,
    registered: registration?.active != null,
    permission: pushes ? Notification.permission : "default",
    endpoint: (await registration?.pushManager?.getSubscription())?.endpoint,
  };
}

async function subscriptionFor(registration: ServiceWorkerRegistration, key: string): Promise<PushSubscription> {
  const there = await registration.pushManager.getSubscription();
  if (there !== null && hasKey(there, key)) return there;
  await there?.unsubscribe();
  return registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(key) });
}

function hasKey({ options }: PushSubscription, key: string): boolean {
  const own = new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0));
  const wanted = bytesOf(key);
  return own.length === wanted.length && own.every((byte, at) => byte === wanted[at]);
}

/** Base64url without padding, as the gateway tells its key. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
}
