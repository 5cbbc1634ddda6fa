/**
 * Notifications, drawn by the service worker while nobody looks at Iris: one for each lane, the newest, until the person
 * has read it somewhere.
 */
import type { PushClose, PushNote } from "../protocol/frames.ts";
import { calls } from "../words/calls.ts";

/** A lane, as the page is asked to open it. */
export interface Opening {
  readonly kind: "open";
  readonly chat_id: string;
  readonly thread_id: string | undefined;
}

/** What a notification remembers. */
export interface Remembered extends Omit<Opening, "kind"> {
  readonly order: number;
}

const worker = self as unknown as ServiceWorkerGlobalScope;

export async function pushed(data: PushMessageData | null): Promise<void> {
  const told = noteIn(data);
  if (told?.type === "push.close") return close(told);
  const pages = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  // The app itself shows what is new; it may have come to the front while this was on its way.
  if (told === undefined || pages.some((page) => page.focused)) return;
  const remembered: Remembered = { chat_id: told.chat_id, thread_id: told.thread_id, order: told.order };
  await worker.registration.showNotification(told.title ?? "Iris", {
    body: told.text ?? generic(told),
    tag: tagOf(told),
    // A newer one of the same lane is told like the first.
    renotify: true,
    timestamp: told.ts * 1000,
    icon: "/iris-192.png",
    data: remembered,
  } as NotificationOptions);
}

/** Opens the lane in the page that is there, or in a new one. */
export async function clicked(notification: Notification): Promise<void> {
  notification.close();
  const { chat_id, thread_id } = notification.data as Remembered;
  const pages = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((each) => each.visibilityState === "visible") ?? pages[0];
  if (page === undefined) {
    const parts = [chat_id.slice(chat_id.indexOf(":") + 1), ...(thread_id === undefined ? [] : [thread_id])];
    await worker.clients.openWindow(`/#/${parts.join("/")}`);
    return;
  }
  page.postMessage({ kind: "open", chat_id, thread_id } satisfies Opening);
  await page.focus();
}

async function close(told: PushClose): Promise<void> {
  const shown = await worker.registration.getNotifications({ tag: tagOf(told) });
  for (const each of shown) if ((each.data as Remembered).order <= told.order) each.close();
}

function generic({ kind, count = 1, language }: PushNote): string {
  const { one, more } = (language === "zh" ? calls.zh : calls.en)[kind];
  return count === 1 ? one : more.replace("#", String(count));
}

function tagOf({ chat_id, thread_id }: PushNote | PushClose): string {
  return `${chat_id} ${thread_id ?? ""}`;
}

/** What came decrypts only if the gateway has sent it; a newer one may send what is not known here. */
function noteIn(data: PushMessageData | null): PushNote | PushClose | undefined {
  try {
    const told = data?.json() as PushNote | PushClose | undefined;
    return told?.type === "push.note" || told?.type === "push.close" ? told : undefined;
  } catch {
    return undefined;
  }
}
