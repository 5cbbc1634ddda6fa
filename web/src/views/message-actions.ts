import type { VNode } from "preact";
import { snapshot } from "../app.ts";
import { entryOf, isGone } from "../directory.ts";
import { words } from "../language.ts";
import { performOn } from "../message-deeds.ts";
import { deedsFor, lastWord } from "../message-menu.ts";
import type { MessageDeed } from "../message-menu.ts";
import { isBusy, laneKey, laneOf } from "../model.ts";
import type { LaneAddress } from "../model.ts";
import { rowsOf } from "../rows.ts";
import type { Session } from "../session.ts";
import type { Subject } from "../subjects.ts";
import { openMenu } from "../ui.ts";
import type { Point } from "../ui.ts";
import { CopyIcon, LinkIcon, MarkdownIcon, PencilIcon, ReplyIcon, RetryIcon, SelectIcon, TrashIcon } from "./icons.tsx";

const ICONS: Readonly<Record<MessageDeed, () => VNode>> = {
  reply: ReplyIcon,
  edit: PencilIcon,
  retry: RetryIcon,
  copy: CopyIcon,
  copyMarkdown: MarkdownIcon,
  link: LinkIcon,
  select: SelectIcon,
  hide: TrashIcon,
  discard: TrashIcon,
};

/** Opens the menu of a message. */
export function openMessageMenu(session: Session, address: LaneAddress, subject: Subject, from: HTMLElement, at: Point, touch: boolean): void {
  const { state } = snapshot.value;
  const lane = laneOf(state, address);
  const entry = entryOf(state.directory, address);
  const last = lane.excerpt === undefined ? lastWord(rowsOf(lane, address, state.outbox)) : undefined;
  const waits = state.outbox.some((pending) => laneKey(pending.address) === laneKey(address));
  const deeds = deedsFor(subject, {
    isRoom: entry?.kind === "room", readOnly: entry?.automation ?? false, gone: isGone(state.directory, address),
    last: waits ? undefined : last, busy: isBusy(lane, Date.now()), touch,
  });
  const { messages: w } = words.value;
  const items = deeds.map((deed) => ({
    key: deed,
    label: w.deeds[deed],
    icon: ICONS[deed],
    dangerous: deed === "hide" || deed === "discard",
    run: () => performOn(session, address, deed, subject, last, from.parentElement ?? from),
  }));
  openMenu.value = { label: w.actions, groups: [{ label: w.actions, items }], from, at };
}
