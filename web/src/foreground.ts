/** What this page has in the foreground, told to those who call the person when it has nothing: gateway and browser. */
import { computed, effect } from "@preact/signals";
import type { Signal } from "@preact/signals";
import { attentive } from "./attention.ts";
import { language } from "./language.ts";
import type { LaneAddress } from "./model.ts";
import type { Session, Snapshot } from "./session.ts";
import type { Opening } from "./worker/notes.ts";

/** Most people have notifications off: what they need is fetched by those who have them on. */
const notifications = () => import("./notifications.ts");

/** Gives what ends it. */
export function keepForeground(session: Session, snapshot: Signal<Snapshot>): () => void {
  const read = computed(() => snapshot.value.state.read);
  const openLane = computed(() => snapshot.value.state.openLane);
  const connected = computed(() => snapshot.value.link.kind === "open");
  const ends = [
    effect(() => session.attend(attentive.value)),
    effect(() => {
      const spoken = language.value;
      if (connected.value && isAllowed()) quietly(notifications().then(({ keep }) => keep(session, spoken)));
    }),
    effect(() => {
      const [marks, shown] = [read.value, attentive.value ? openLane.value : undefined];
      // Asking the browser takes a while: what was opened is drawn first.
      const timer = setTimeout(() => isAllowed() && quietly(notifications().then(({ tidy }) => tidy(marks, shown))));
      return () => clearTimeout(timer);
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** The pairing is over. */
export function endNotifications(): void {
  if (isAllowed()) quietly(notifications().then(({ end }) => end()));
}

/** Calls a function with the lane of each notification that is pressed while this page is there. */
export function followNotifications(open: (address: LaneAddress) => void): void {
  const workers: ServiceWorkerContainer | undefined = navigator.serviceWorker;
  workers?.addEventListener("message", ({ data }: MessageEvent<Opening | undefined>) => {
    if (data?.kind !== "open") return;
    open(data.thread_id === undefined ? { chat_id: data.chat_id } : { chat_id: data.chat_id, thread_id: data.thread_id });
  });
}

function isAllowed(): boolean {
  return "Notification" in globalThis && Notification.permission === "granted";
}

/** None of this is what the person came for. */
function quietly(work: Promise<void>): void {
  work.catch((cause: unknown) => console.warn("Iris cannot look after its notifications.", cause));
}
