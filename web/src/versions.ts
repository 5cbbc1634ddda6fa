/**
 * The service worker as the page sees it: it is registered, and a newer version of the app is told of once it is ready.
 *
 * A version changes only when a person asks for it, and then in all pages at once.
 */
import type { Order } from "./sw.ts";

let registration: ServiceWorkerRegistration | undefined;

/** `offer` gets what changes to the new version. Without a secure context there is no worker, and nothing to offer. */
export async function registerWorker(offer: (change: () => void) => void): Promise<void> {
  const workers: ServiceWorkerContainer | undefined = navigator.serviceWorker;
  if (workers === undefined || import.meta.env.DEV) return;
  let offered = false;
  let replaces = workers.controller !== null;
  workers.addEventListener("controllerchange", () => {
    // The very first one takes over a page that has the same files.
    if (replaces) location.reload();
    replaces = true;
  });
  try {
    registration = await workers.register("/sw.js");
  } catch (cause) {
    console.warn("Iris will not start without its gateway: the browser refused the service worker.", cause);
    return;
  }
  const { waiting, installing } = registration;
  const follow = (next: ServiceWorker): void => {
    const look = (): void => {
      if (next.state !== "installed" || workers.controller === null || offered) return;
      offered = true;
      // By then a still newer one may have taken its place.
      offer(() => registration?.waiting?.postMessage("activate" satisfies Order));
    };
    next.addEventListener("statechange", look);
    look();
  };
  for (const next of [waiting, installing]) if (next !== null) follow(next);
  registration.addEventListener("updatefound", () => {
    if (registration?.installing) follow(registration.installing);
  });
}

/** Asks the gateway whether it has a newer version; the browser does so by itself only when a page is loaded. */
export function lookForVersion(): void {
  // It is asked again with the next connection.
  void registration?.update().catch(() => undefined);
}
