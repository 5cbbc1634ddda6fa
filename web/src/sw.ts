/**
 * The service worker: it starts the app without the gateway, changes to a new version when the person says so, shows
 * notifications and takes in what other apps share.
 *
 * It answers for the files of its own build, for what is shared, and for nothing else: what is asked of the gateway does
 * not pass through here, and is never kept.
 */
import { clicked, pushed } from "./worker/notes.ts";
import { keepShared, SHARE_PATH, takeShared } from "./worker/share.ts";

/** Written in front of this file by the build. */
declare const SHELL: {
  /** Names the content of all files. */
  readonly version: string;
  readonly files: readonly string[];
  /** What the app needs to start and for its everyday; the rest is kept once it was asked for. */
  readonly needed: readonly string[];
};

/** What the page says when the person wants the new version, and when it was opened for what was shared. */
export type Order = "activate" | "shared";

const worker = self as unknown as ServiceWorkerGlobalScope;
const PREFIX = "iris-shell-";
const CACHE = PREFIX + SHELL.version;
const files = new Set(SHELL.files);

worker.addEventListener("install", (event) => event.waitUntil(fill()));
worker.addEventListener("activate", (event) => event.waitUntil(takeOver()));
worker.addEventListener("message", (event) => {
  const order = event.data as Order;
  if (order === "activate") void worker.skipWaiting();
  if (order === "shared") event.waitUntil(takeShared().then((shared) => event.ports[0]?.postMessage(shared)));
});
worker.addEventListener("push", (event) => event.waitUntil(pushed(event.data)));
worker.addEventListener("notificationclick", (event) => event.waitUntil(clicked(event.notification)));
worker.addEventListener("fetch", (event) => {
  const { origin, pathname } = new URL(event.request.url);
  if (event.request.method === "POST" && origin === worker.location.origin && pathname === SHARE_PATH) {
    return event.respondWith(keepShared(event.request));
  }
  if (event.request.method !== "GET" || origin !== worker.location.origin || !files.has(pathname)) return;
  event.respondWith(fileAt(pathname));
});

async function fill(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll(SHELL.needed);
}

async function takeOver(): Promise<void> {
  const old = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

async function fileAt(path: string): Promise<Response> {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(path);
  if (kept !== undefined) return kept;
  const fresh = await fetch(path);
  if (fresh.ok) await cache.put(path, fresh.clone());
  return fresh;
}
