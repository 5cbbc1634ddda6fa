import { useContext, useEffect } from "preact/hooks";
import type { Link } from "../connection.ts";
import { createChannel } from "../deeds.ts";
import { groupsOf } from "../directory.ts";
import { words } from "../language.ts";
import { laneKey } from "../model.ts";
import type { Channel, LaneAddress, State } from "../model.ts";
import { deviceCount, editing, searching, showingDevices, showingSettings } from "../ui.ts";
import { unreadUnder } from "../unread.ts";
import { ChannelRow } from "./channel-row.tsx";
import { SessionContext } from "./context.ts";
import { GearIcon, PlusIcon, SearchIcon } from "./icons.tsx";
import { linkSummary } from "./link-status.tsx";
import { NameField } from "./name-field.tsx";

interface Props {
  readonly directory: State["directory"];
  readonly unread: State["unread"];
  readonly openLane: LaneAddress;
  readonly server: State["server"];
  /** The device that came in last. */
  readonly paired: State["paired"];
  readonly link: Link;
  readonly open: boolean;
  readonly onChoose: (address: LaneAddress) => void;
  /** Something was opened that this column must not cover. */
  readonly onLeave: () => void;
}

export function Sidebar({ directory, unread, openLane, server, paired, link, open, onChoose, onLeave }: Props) {
  const { home, channels, automation, rooms } = groupsOf(directory);
  const session = useContext(SessionContext);
  const summary = linkSummary(link);
  const isOpen = link.kind === "open";
  const devices = deviceCount.value;
  const { sidebar: w } = words.value;
  useEffect(() => {
    // Only a number beside the link; the dialog tells what goes wrong with it.
    if (isOpen) void session?.request({ type: "device.list" }).then((outcome) => {
      if (outcome.ok) deviceCount.value = outcome.answer.devices.length;
    });
  }, [isOpen, paired]);
  const rows = (entries: readonly Channel[]) =>
    entries.map((entry) => (
      <ChannelRow
        key={laneKey(entry)} entry={entry} isHome={entry === home} isOpen={entry.chat_id === openLane.chat_id}
        unread={unreadUnder({ directory, unread }, entry.chat_id)} onChoose={onChoose}
      />
    ));
  const search = (): void => {
    onLeave();
    searching.value = { scope: "all" };
  };
  return (
    <aside id="sidebar" aria-label="Iris" class={`sidebar ${open ? "open" : ""}`}>
      <div class="brand">
        <img src="/iris.svg" alt="" width="26" height="26" />
        <span>Iris</span>
        {server !== undefined && <span class="faint version">{server.version}</span>}
      </div>
      <button type="button" class="search-field" aria-keyshortcuts="Control+K" onClick={search}>
        <SearchIcon /><span>{w.search}</span><kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      <nav aria-label={w.channels}>
        {home !== undefined && (
          <>
            <ul>{rows([home])}</ul>
            <div class="group-head">
              <h2 id="group-channels">{w.channels}</h2>
              <button
                type="button" class="new-channel" aria-label={w.newChannel} title={w.newChannel}
                onClick={() => (editing.value = { kind: "newChannel" })}
              >
                <PlusIcon />
              </button>
            </div>
            <ul aria-labelledby="group-channels">
              {rows(channels)}
              {editing.value?.kind === "newChannel" && <NewChannel onMade={onLeave} />}
            </ul>
            {channels.length === 0 && editing.value?.kind !== "newChannel" && (
              <p class="group-empty">{w.none}</p>
            )}
          </>
        )}
        <Group id="group-automation" title={w.automation} entries={automation} rows={rows} />
        <Group id="group-rooms" title={w.rooms} entries={rooms} rows={rows} />
      </nav>
      <div class="sidebar-foot">
        <button type="button" class="devices-button" title={w.devices} onClick={() => (showingDevices.value = true)}>
          <span class={`dot ${summary.tone}`} />
          <span>{summary.text}{isOpen && devices > 0 && ` · ${words.value.counts.devices(devices)}`}</span>
        </button>
        <button type="button" class="icon-button settings-button" aria-label={words.value.common.settings} title={words.value.common.settings} onClick={() => (showingSettings.value = true)}>
          <GearIcon />
        </button>
      </div>
    </aside>
  );
}

function Group({ id, title, entries, rows }: {
  id: string; title: string; entries: readonly Channel[]; rows: (entries: readonly Channel[]) => preact.VNode[];
}) {
  if (entries.length === 0) return null;
  return (
    <>
      <div class="group-head"><h2 id={id}>{title}</h2></div>
      <ul aria-labelledby={id}>{rows(entries)}</ul>
    </>
  );
}

function NewChannel({ onMade }: { onMade: () => void }) {
  const session = useContext(SessionContext);
  const submit = async (name: string): Promise<string | undefined> => {
    const objection = session === undefined ? undefined : await createChannel(session, name);
    if (objection === undefined) onMade();
    return objection;
  };
  return <li><NameField label={words.value.sidebar.channelName} submit={submit} onClose={() => (editing.value = undefined)} /></li>;
}
