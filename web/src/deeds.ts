/** What a person does, from the press to the word about how it went: above all to channels and threads. */
import { entryOf, homeOf, isSplit } from "./directory.ts";
import { writeDraft } from "./drafts.ts";
import type { LaneDeed } from "./lane-menu.ts";
import { words } from "./language.ts";
import { addressOf, laneKey, sameLane } from "./model.ts";
import type { Channel, CronJob, LaneAddress } from "./model.ts";
import type { Command } from "./palette.ts";
import type { Place } from "./place.ts";
import type { Kind, Outcome } from "./requests.ts";
import type { MineRow } from "./rows.ts";
import type { Session } from "./session.ts";
import { changeSettings } from "./settings.ts";
import { callComposer, editing, showingDevices, showingHelp, showingSettings, showToast, sought, targeting } from "./ui.ts";
import type { EditPlace } from "./ui.ts";

export function perform(session: Session, entry: Channel, deed: LaneDeed, place: EditPlace): void {
  const chat_id = entry.chat_id;
  switch (deed) {
    case "rename":
      editing.value = { kind: "rename", key: laneKey(entry), place: entry.thread_id === undefined ? place : "chip" };
      return;
    case "newTopic":
      return beginTopic(session);
    case "setThreads":
      return agree(session.request({ type: "channel.set_threads", chat_id, on: !entry.threads }));
    case "setDefault":
      return agree(session.request({ type: "channel.set_default", chat_id }));
    case "setAutomation":
      return agree(session.request({ type: "channel.set_automation", chat_id, on: !entry.automation }));
    case "setTarget":
      targeting.value = entry;
      return;
    case "delete":
      void remove(session, entry);
      return;
  }
}

/** The same once more, in its place: the agent forgets what came of it. A command is only given again. */
export function sayAgain(session: Session, { id, text, attachments, quote }: MineRow): void {
  session.send(text, { quote, attachments, replaces: text.startsWith("/") ? undefined : id });
}

/** Takes the person to a message, wherever in the past of its lane that is. */
export function goTo(session: Session, { address, order }: Place): void {
  if (order === undefined) return session.openLane(address);
  sought.value = { address, order };
  session.openAt(address, order);
}

/** Does what was chosen in the palette. */
export function carryOut(session: Session, command: Command): void {
  switch (command) {
    case "newChannel": return void (editing.value = { kind: "newChannel" });
    case "newTopic": return beginTopic(session);
    case "settings": return void (showingSettings.value = true);
    case "devices": return void (showingDevices.value = true);
    case "keys": return void (showingHelp.value = true);
    case "themeLight": return changeSettings({ theme: "light" });
    case "themeDark": return changeSettings({ theme: "dark" });
    case "themeSystem": return changeSettings({ theme: "system" });
  }
}

/** Opens the field for a new topic, wherever the person is. */
export function beginTopic(session: Session): void {
  const { directory, openLane } = session.current;
  const home = homeOf(directory);
  if (home === undefined) return;
  if (!isSplit(home)) {
    const on = (): void => agree(session.request({ type: "channel.set_threads", chat_id: home.chat_id, on: true }));
    return showToast(words.value.lanes.threadsOff(home.name), { action: { label: words.value.lanes.turnOn, run: on } });
  }
  editing.value = { kind: "newTopic" };
  if (openLane.chat_id !== home.chat_id) session.openLane(addressOf(home));
}

/** Each of these gives what went wrong, for the field that the name was typed into. */
export async function createChannel(session: Session, name: string): Promise<string | undefined> {
  return openCreated(session, await session.request({ type: "channel.create", kind: "channel", name }));
}

export async function createTopic(session: Session, home: LaneAddress, name: string): Promise<string | undefined> {
  if (name === "") {
    // The first message names it.
    session.openLane(home);
    callComposer();
    return undefined;
  }
  return openCreated(session, await session.request({ type: "channel.create", kind: "thread", parent_chat_id: home.chat_id, name }));
}

export async function rename(session: Session, entry: Channel, name: string): Promise<string | undefined> {
  if (name === entry.name) return undefined;
  const outcome = await session.request({ type: "channel.rename", ...addressOf(entry), name });
  return outcome.ok ? undefined : outcome.message;
}

export async function setTarget(session: Session, job: CronJob, entry: Channel): Promise<string | undefined> {
  const outcome = await session.request({ type: "cron.set_target", job_id: job.id, ...addressOf(entry) });
  if (!outcome.ok) return outcome.message;
  showToast(words.value.lanes.targeted(job.name, entry.name));
  return undefined;
}

/** Puts the sentence that makes a job in front of the agent. */
export function askForJob(session: Session, sentence: string): void {
  const home = homeOf(session.current.directory);
  if (home === undefined) return;
  session.openLane(addressOf(home));
  writeDraft(home, { text: sentence });
  callComposer();
}

/** Takes a deletion back: of the lane, and of the channel that it went with. */
export async function restore(session: Session, address: LaneAddress): Promise<string | undefined> {
  const { directory } = session.current;
  const places = address.thread_id === undefined ? [address] : [{ chat_id: address.chat_id }, address];
  for (const place of places.filter((candidate) => entryOf(directory, candidate)?.archived)) {
    const outcome = await session.request({ type: "channel.restore", ...addressOf(place) });
    if (!outcome.ok) return outcome.message;
  }
  return undefined;
}

function openCreated(session: Session, outcome: Outcome<"channel.create">): string | undefined {
  if (!outcome.ok) return outcome.message;
  session.openLane(addressOf(outcome.answer));
  return undefined;
}

async function remove(session: Session, entry: Channel): Promise<void> {
  const address = addressOf(entry);
  const open = session.current.openLane;
  const wasOpen = open.chat_id === entry.chat_id && (entry.thread_id === undefined || sameLane(open, entry));
  const outcome = await session.request({ type: "channel.delete", ...address });
  if (!outcome.ok) return showToast(outcome.message, { tone: "bad" });
  const undo = async (): Promise<void> => {
    const back = await session.request({ type: "channel.restore", ...address });
    if (!back.ok) showToast(back.message, { tone: "bad" });
    else if (wasOpen) session.openLane(open);
  };
  showToast(words.value.lanes.deleted(entry.name), { action: { label: words.value.lanes.undo, run: () => void undo() } });
}

/** Says what comes of a request, whether it worked or not. */
export function agree<K extends Kind>(request: Promise<Outcome<K>>, word?: string): void {
  void request.then((outcome) => {
    if (!outcome.ok) showToast(outcome.message, { tone: "bad" });
    else if (word !== undefined) showToast(word);
  });
}
