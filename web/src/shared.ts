/** What another app shared with Iris, put where the person would write: it is theirs to send. */
import { choose } from "./attachments.ts";
import { entryOf, homeOf, isThere } from "./directory.ts";
import { draftOf, writeDraft } from "./drafts.ts";
import { addressOf } from "./model.ts";
import type { Channel, LaneAddress } from "./model.ts";
import type { Session } from "./session.ts";
import type { Order } from "./sw.ts";
import { callComposer, showToast } from "./ui.ts";
import type { Shared } from "./worker/share.ts";

/** A worker that does not answer is not waited for. */
const PATIENCE = 5_000;

/** Puts it into the open lane, or into the default channel when nothing can be written there. */
export async function takeIn(session: Session): Promise<void> {
  history.replaceState(null, "", location.pathname + location.hash);
  const { text, files } = await kept();
  if (text === "" && files.length === 0) return;
  const { directory, openLane, policy } = session.current;
  const address = laneFor(directory, openLane, files.length > 0);
  session.openLane(address);
  const before = draftOf(address).text;
  if (text !== "") writeDraft(address, { text: before === "" ? text : `${before}\n${text}` });
  const objection = files.length === 0 ? undefined : choose(address, files, policy);
  if (objection !== undefined) showToast(objection, { tone: "bad" });
  callComposer();
}

/** Reports and rooms take no files, and what is gone or read-only takes nothing. A new page knows of no lane yet. */
export function laneFor(directory: readonly Channel[], openLane: LaneAddress, hasFiles: boolean): LaneAddress {
  const entry = entryOf(directory, openLane);
  const home = homeOf(directory);
  if (entry === undefined || home === undefined) return openLane;
  const takes = isThere(directory, openLane) && !entry.automation && !(hasFiles && entry.kind === "room");
  return takes ? openLane : addressOf(home);
}

/** What the service worker has. */
function kept(): Promise<Shared> {
  const nothing: Shared = { text: "", files: [] };
  const workers: ServiceWorkerContainer | undefined = navigator.serviceWorker;
  const worker = workers?.controller;
  if (worker == null) return Promise.resolve(nothing);
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<Shared>) => resolve(data);
    setTimeout(() => resolve(nothing), PATIENCE);
    worker.postMessage("shared" satisfies Order, [port2]);
  });
}
