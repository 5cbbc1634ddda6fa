/** The one running app: which screen it shows, and the session behind it. */
import { batch, computed, effect, signal } from "@preact/signals";
import { forgetFiles } from "./attachments.ts";
import { leavingCover } from "./back.ts";
import type { Surroundings } from "./connection.ts";
import { Database, wipe } from "./database.ts";
import { goTo } from "./deeds.ts";
import { entryOf } from "./directory.ts";
import { keepDrafts, wipeDrafts } from "./drafts.ts";
import { endNotifications, followNotifications, keepForeground } from "./foreground.ts";
import { askAdmission, useToken, visits } from "./media.ts";
import { DEFAULT_LANE, INITIAL_STATE } from "./model.ts";
import { placeInAddressBar, placeToBeginWith, showInAddressBar, titleOf } from "./navigation.ts";
import { codeFrom, deviceName, forget, pair, remember, remembered } from "./pairing.ts";
import type { Identity } from "./pairing.ts";
import { Recorder } from "./recorder.ts";
import { restored } from "./saved.ts";
import { isBehind, Session } from "./session.ts";
import type { Snapshot } from "./session.ts";
import { Tabs } from "./tabs.ts";
import { changeVersion } from "./ui.ts";
import { unreadInAll } from "./unread.ts";
import { lookForVersion, registerWorker } from "./versions.ts";

export type Screen =
  | { readonly kind: "starting" }
  | { readonly kind: "pairing"; readonly busy: boolean; readonly message: string }
  | { readonly kind: "chat"; readonly session: Session };

export const screen = signal<Screen>({ kind: "starting" });
export const snapshot = signal<Snapshot>({ state: INITIAL_STATE, link: { kind: "stopped" } });

export const connected = computed(() => snapshot.value.link.kind === "open");

const directory = computed(() => snapshot.value.state.directory);
const openName = computed(() => entryOf(directory.value, snapshot.value.state.openLane)?.name);
const counts = computed(() => snapshot.value.state.unread);
/** In all lanes; counted only when there is another number or another lane, not with each word of an answer. */
export const unreadTotal = computed(() => unreadInAll({ directory: directory.value, unread: counts.value }));

/** The name of the built file: another build has another one. */
const BUILD = new URL(import.meta.url).pathname;

/** Milliseconds between two drawings while what was missed comes in. */
const BEHIND = 500;

/** What this page has open as long as it is a device of the gateway. */
interface Stay {
  readonly identity: Identity;
  readonly session: Session;
  readonly recorder: Recorder | undefined;
  close(): void;
}

let stay: Stay | undefined;
let newest = snapshot.value;
/** When the next drawing is due, if one is. */
let scheduled: "soon" | "later" | undefined;
/** A code that came in with a link while this browser still had a token. */
let spareCode: string | undefined;

const surroundings: Surroundings = {
  open: () => new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`),
  now: () => Date.now(),
  random: () => Math.random(),
  after: (delay, work) => {
    const timer = setTimeout(work, delay);
    return () => clearTimeout(timer);
  },
};

export function boot(): void {
  const identity = remembered();
  const code = takeCode();
  if (identity !== undefined) {
    spareCode = code;
    void enter(identity);
  } else if (code !== undefined) {
    void pairWith(code);
  } else {
    screen.value = { kind: "pairing", busy: false, message: "" };
  }
  void registerWorker((change) => (changeVersion.value = change));
  addEventListener("online", wake);
  document.addEventListener("visibilitychange", wake);
  addEventListener("hashchange", followLink);
  followNotifications((lane) => {
    if (screen.value.kind === "chat") screen.value.session.openLane(lane);
  });
  effect(() => {
    if (connected.value) void askAdmission().then(() => visits.value++);
  });
  effect(() => {
    document.title = titleOf(unreadTotal.value, openName.value);
  });
  effect(() => {
    // A lane may have been opened on the way.
    if (!leavingCover.value) showInAddressBar(newest.state);
  });
  effect(() => {
    // A gateway that was upgraded was restarted.
    if (connected.value) lookForVersion();
  });
  effect(() => {
    // Only an installed app has a badge, and not every browser can draw one.
    void navigator.setAppBadge?.(unreadTotal.value).catch(() => undefined);
  });
}

export async function pairWith(pasted: string): Promise<void> {
  screen.value = { kind: "pairing", busy: true, message: "" };
  const result = await pair(codeFrom(pasted), deviceName(navigator.userAgent));
  if (result.ok) {
    remember(result.identity);
    await enter(result.identity);
  } else {
    screen.value = { kind: "pairing", busy: false, message: result.message };
  }
}

/** Works without a secure context, where `crypto.randomUUID` is missing. */
export function mintUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

async function enter(identity: Identity): Promise<void> {
  const place = placeToBeginWith();
  const openLane = place?.address ?? DEFAULT_LANE;
  const endDrafts = keepDrafts(localStorage);
  const kept = await reopen(identity);
  const begin = restored(kept?.saved, kept?.outbox ?? [], openLane);
  const session = new Session(surroundings, identity, mintUuid, show, begin, kept?.shared);
  const endForeground = keepForeground(session, snapshot);
  const close = (): void => {
    endForeground();
    session.stop();
    endDrafts();
    kept?.close();
  };
  useToken(identity.token);
  stay = { identity, session, recorder: kept?.recorder, close };
  newest = { state: begin, link: { kind: "connecting" } };
  batch(() => {
    snapshot.value = newest;
    screen.value = { kind: "chat", session };
  });
  if (place?.order !== undefined) goTo(session, place);
  session.start();
  if (location.search === "?shared") void import("./shared.ts").then(({ takeIn }) => takeIn(session));
}

/** What this browser kept of the pairing. A browser that keeps nothing is no reason not to start. */
async function reopen({ id }: Identity) {
  try {
    const [store, tabs] = await Promise.all([Database.open(id, BUILD), Tabs.join(id, mintUuid(), navigator.locks)]);
    const { saved, rows } = await store.load();
    const recorder = new Recorder((changes) => store.save(changes), surroundings.after);
    tabs.lead(() => recorder.begin());
    void wipe(id).catch((cause: unknown) => console.warn("Iris cannot delete what an earlier pairing left here.", cause));
    const close = (): void => {
      recorder.stop();
      tabs.close();
      store.close();
    };
    return { saved, outbox: rows.map((row) => ({ ...row.pending, elsewhere: true })), shared: { store, tabs }, recorder, close };
  } catch (cause) {
    console.warn("Iris cannot keep anything on this device.", cause);
    return undefined;
  }
}

/** One drawing per frame of the screen, however many frames the gateway sends; seldom while what was missed comes in. */
function show(next: Snapshot): void {
  newest = next;
  const { state, link } = next;
  stay?.recorder?.note(state);
  if (link.kind === "refused") return leave(link.message);
  const behind = isBehind(next);
  if (scheduled === "soon" || (scheduled === "later" && behind)) return;
  scheduled = behind ? "later" : "soon";
  if (behind) setTimeout(draw, BEHIND);
  else if (document.hidden) setTimeout(draw);
  else requestAnimationFrame(draw);
}

function draw(): void {
  scheduled = undefined;
  const { openLane, directory, epoch } = snapshot.value.state;
  const { state } = newest;
  snapshot.value = newest;
  if (state.openLane !== openLane || state.directory !== directory || state.epoch !== epoch) showInAddressBar(state);
}

/** Nothing of a pairing that ended stays on the device. */
function leave(message: string): void {
  if (stay === undefined) return;
  const { identity, close } = stay;
  stay = undefined;
  forget(identity);
  wipeDrafts();
  forgetFiles();
  endNotifications();
  useToken(undefined);
  close();
  void wipe(remembered()?.id).catch((cause: unknown) => console.warn("Iris cannot delete what it kept here.", cause));
  newest = { state: INITIAL_STATE, link: { kind: "stopped" } };
  batch(() => {
    snapshot.value = newest;
    screen.value = { kind: "pairing", busy: false, message };
  });
  const code = spareCode;
  spareCode = undefined;
  const other = remembered();
  if (other !== undefined) void enter(other);
  else if (code !== undefined) void pairWith(code);
}

function wake(): void {
  if (screen.value.kind === "chat" && !document.hidden) screen.value.session.wake();
}

function followLink(): void {
  const code = takeCode();
  if (code !== undefined && screen.value.kind === "pairing") void pairWith(code);
  if (screen.value.kind !== "chat") return;
  const place = placeInAddressBar(newest.state);
  if (place !== undefined) goTo(screen.value.session, place);
  else showInAddressBar(newest.state);
}

/** The code of the address bar, which then shows it no longer. */
function takeCode(): string | undefined {
  if (!location.hash.startsWith("#pair=")) return undefined;
  const code = codeFrom(location.hash);
  history.replaceState(null, "", location.pathname + location.search);
  return code;
}
