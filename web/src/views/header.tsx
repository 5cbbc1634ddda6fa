import { useContext, useRef } from "preact/hooks";
import type { RefObject } from "preact";
import { rename } from "../deeds.ts";
import { words } from "../language.ts";
import { laneKey } from "../model.ts";
import type { Channel } from "../model.ts";
import { editing, openMenu, searching } from "../ui.ts";
import { useFocusAfter } from "./channel-row.tsx";
import { SessionContext } from "./context.ts";
import { CloseIcon, MenuIcon, MoreIcon, SearchIcon } from "./icons.tsx";
import { openLaneMenu } from "./menus.ts";
import { NameField } from "./name-field.tsx";

interface Props {
  readonly channel: Channel | undefined;
  /** The thread that is open under it. */
  readonly thread: Channel | undefined;
  readonly model: string | undefined;
  readonly unread: number;
  readonly drawerOpen: boolean;
  readonly menuButton: RefObject<HTMLButtonElement | null>;
  readonly onDrawer: () => void;
}

export function Header({ channel, thread, model, unread, drawerOpen, menuButton, onDrawer }: Props) {
  const session = useContext(SessionContext);
  const more = useRef<HTMLButtonElement>(null);
  const { lanes, sidebar } = words.value;
  const edit = editing.value;
  const renaming = channel !== undefined && edit?.kind === "rename" && edit.place === "header" && edit.key === laneKey(channel);
  useFocusAfter(renaming, more);
  const entries = channel?.archived ? [] : [thread, channel].filter((entry): entry is Channel => entry !== undefined && !entry.archived);
  return (
    <header class="chat-head">
      <button
        ref={menuButton} type="button" class="menu-button" aria-label={unread > 0 ? lanes.channelsUnread(unread) : sidebar.channels}
        aria-controls="sidebar" aria-expanded={drawerOpen} onClick={onDrawer}
      >
        {drawerOpen ? <CloseIcon /> : <MenuIcon />}
        {unread > 0 && !drawerOpen && <span class="news" />}
      </button>
      {renaming ? (
        <NameField
          label={lanes.newName(channel.name)} initial={channel.name} onClose={() => (editing.value = undefined)}
          submit={async (name) => (session === undefined ? undefined : rename(session, channel, name))}
        />
      ) : (
        <h1 title={channel?.name}>{channel?.name ?? "Iris"}</h1>
      )}
      <span class="faint">{model}</span>
      {channel !== undefined && (
        <button
          type="button" class="icon-button find" aria-label={lanes.searchHere} title={lanes.searchHereKey} aria-keyshortcuts="Control+F"
          onClick={() => (searching.value = { scope: thread === undefined ? "chat" : "thread" })}
        >
          <SearchIcon />
        </button>
      )}
      {entries.length > 0 && (
        <button
          ref={more} type="button" class="icon-button more" aria-label={lanes.menu} title={lanes.menu} aria-haspopup="menu"
          aria-expanded={openMenu.value?.place === "header"}
          onClick={(event) => {
            const { right, bottom } = event.currentTarget.getBoundingClientRect();
            openLaneMenu(session, entries, event.currentTarget, { x: right, y: bottom + 4 }, "header");
          }}
        >
          <MoreIcon />
        </button>
      )}
    </header>
  );
}
