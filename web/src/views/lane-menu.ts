import type { VNode } from "preact";
import { perform } from "../deeds.ts";
import { menuOf } from "../lane-menu.ts";
import type { LaneDeed } from "../lane-menu.ts";
import { words } from "../language.ts";
import type { Channel } from "../model.ts";
import type { Session } from "../session.ts";
import { openMenu } from "../ui.ts";
import type { EditPlace, MenuItem, Point } from "../ui.ts";
import { ClockIcon, GearIcon, HomeLaneIcon, PencilIcon, PlusIcon, TopicsIcon, TrashIcon } from "./icons.tsx";

const ICONS: Readonly<Record<LaneDeed, () => VNode>> = {
  rename: PencilIcon,
  newTopic: PlusIcon,
  setThreads: TopicsIcon,
  setDefault: HomeLaneIcon,
  setAutomation: GearIcon,
  setTarget: ClockIcon,
  delete: TrashIcon,
};

/** Opens the menu of a channel, of a topic, or of both in the header. */
export function openLaneMenu(session: Session | undefined, entries: readonly Channel[], from: HTMLElement, at: Point, place: EditPlace): void {
  const itemsOf = (entry: Channel): MenuItem[] => menuOf(entry).map(({ deed, label, checked }) => ({
    key: deed,
    label,
    icon: ICONS[deed],
    checked,
    dangerous: deed === "delete",
    run: () => session !== undefined && perform(session, entry, deed, place),
  }));
  const groups = entries.map((entry) => ({ label: entry.name, items: itemsOf(entry) }));
  openMenu.value = { label: words.value.lanes.actions(entries[0]?.name ?? ""), groups, from, at, place };
}
