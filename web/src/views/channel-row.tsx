import { useContext, useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { rename } from "../deeds.ts";
import { words } from "../language.ts";
import { addressOf, laneKey } from "../model.ts";
import type { Channel, LaneAddress } from "../model.ts";
import { editing } from "../ui.ts";
import { SessionContext } from "./context.ts";
import { ChannelIcon, ClockIcon, GearIcon, HomeLaneIcon, RoomIcon } from "./icons.tsx";
import { openLaneMenu } from "./menus.ts";
import { useMenuTrigger } from "./menu-trigger.ts";
import { NameField } from "./name-field.tsx";

interface Props {
  readonly entry: Channel;
  readonly isHome: boolean;
  readonly isOpen: boolean;
  /** With what is under it. */
  readonly unread: number;
  readonly onChoose: (address: LaneAddress) => void;
}

export function ChannelRow({ entry, isHome, isOpen, unread, onChoose }: Props) {
  const session = useContext(SessionContext);
  const button = useRef<HTMLButtonElement>(null);
  const trigger = useMenuTrigger((from, at) => openLaneMenu(session, [entry], from, at, "row"));
  const edit = editing.value;
  const renaming = edit?.kind === "rename" && edit.place === "row" && edit.key === laneKey(entry);
  useFocusAfter(renaming, button);
  useFocusHeir(button);
  useEffect(() => {
    if (isOpen) button.current?.scrollIntoView({ block: "nearest" });
  }, [isOpen]);
  if (renaming) {
    return (
      <li>
        <NameField
          label={words.value.lanes.newName(entry.name)} initial={entry.name} onClose={() => (editing.value = undefined)}
          submit={async (name) => (session === undefined ? undefined : rename(session, entry, name))}
        />
      </li>
    );
  }
  return (
    <li>
      <button
        ref={button} type="button" class="channel" aria-label={laneLabel(entry, unread)} {...trigger} aria-keyshortcuts="Shift+F10"
        aria-current={isOpen ? "page" : undefined} onClick={() => onChoose(addressOf(entry))}
      >
        <LaneIcon entry={entry} isHome={isHome} />
        <span class="channel-name" title={entry.name}>{entry.name}</span>
        <CronBadge entry={entry} />
        <UnreadPill count={unread} />
      </button>
    </li>
  );
}

/** Gives the focus back when a field that stood in the element's place is gone. */
export function useFocusAfter(replaced: boolean, element: { readonly current: HTMLElement | null }): void {
  const before = useRef(replaced);
  useEffect(() => {
    if (before.current && !replaced && document.activeElement === document.body) element.current?.focus();
    before.current = replaced;
  }, [replaced]);
}

/** Something that is deleted while it has the focus leaves it to the open one beside it. */
export function useFocusHeir(element: { readonly current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const own = element.current;
    return () => {
      if (own === document.activeElement) own?.closest("nav")?.querySelector<HTMLElement>("[aria-current]")?.focus();
    };
  }, []);
}

/** What a lane's button is called: its name, and what its marks mean. */
export function laneLabel(entry: Channel, unread: number): string {
  return [entry.name, cronWords(entry), unread > 0 && words.value.counts.unread(unread)].filter(Boolean).join(", ");
}

function cronWords(entry: Channel): string | undefined {
  const count = entry.cron_jobs ?? 0;
  return count === 0 ? undefined : words.value.lanes.jobs(count);
}

export function CronBadge({ entry }: { entry: Channel }) {
  const words = cronWords(entry);
  return words === undefined ? null : <span class="cron-badge" title={words}><ClockIcon /></span>;
}

/** For the eye; what it stands in says it in words. */
export function UnreadPill({ count }: { count: number }) {
  return count === 0 ? null : <span class="pill" aria-hidden="true" data-count={count > 99 ? "99+" : count} />;
}

function LaneIcon({ entry, isHome }: { entry: Channel; isHome: boolean }) {
  if (isHome) return <HomeLaneIcon />;
  if (entry.automation) return <GearIcon />;
  return entry.kind === "room" ? <RoomIcon /> : <ChannelIcon />;
}
