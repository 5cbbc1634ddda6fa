import type { ComponentChildren } from "preact";
import { snapshot } from "../app.ts";
import { entryOf, isGone, pathOf } from "../directory.ts";
import { clock, roleName } from "../format.ts";
import { words } from "../language.ts";
import { laneKey } from "../model.ts";
import type { Channel, Hit } from "../model.ts";
import type { Command } from "../palette.ts";
import { laneOfHit } from "../search.ts";
import { later } from "../words/later.ts";
import { UnreadPill } from "./channel-row.tsx";
import { ChannelIcon, ClockIcon, GearIcon, HomeLaneIcon, RoomIcon, TerminalIcon, TopicsIcon } from "./icons.tsx";

interface Placed {
  readonly index: number;
  readonly active: boolean;
  readonly onActive: (index: number) => void;
  readonly onChoose: () => void;
}

export function optionId(index: number): string {
  return `search-option-${index}`;
}

function Option({ index, active, onActive, onChoose, className, children }: Placed & { className: string; children: ComponentChildren }) {
  return (
    <div
      id={optionId(index)} class={`option ${className}`} role="option" aria-selected={active} onClick={onChoose}
      onPointerMove={(event) => event.pointerType === "mouse" && !active && onActive(index)}
    >
      {children}
    </div>
  );
}

export function LaneOption({ entry, ...placed }: Placed & { entry: Channel }) {
  const { directory, unread } = snapshot.value.state;
  const channel = entry.thread_id === undefined ? undefined : entryOf(directory, { chat_id: entry.chat_id });
  const count = unread[laneKey(entry)] ?? 0;
  return (
    <Option {...placed} className="option-lane">
      <LaneSign entry={entry} />
      <span class="option-name">{entry.name}</span>
      {channel !== undefined && <span class="faint">{channel.name}</span>}
      <UnreadPill count={count} />
      {count > 0 && <span class="off-screen">, {words.value.counts.unread(count)}</span>}
    </Option>
  );
}

export function CommandOption({ command, ...placed }: Placed & { command: Command }) {
  return (
    <Option {...placed} className="option-lane">
      <TerminalIcon />
      <span class="option-name">{later.value.commands[command]}</span>
    </Option>
  );
}

function LaneSign({ entry }: { entry: Channel }) {
  if (entry.thread_id !== undefined) return <TopicsIcon />;
  if (entry.automation) return <GearIcon />;
  if (entry.kind === "room") return <RoomIcon />;
  return entry.is_default ? <HomeLaneIcon /> : <ChannelIcon />;
}

export function HitOption({ hit, ...placed }: Placed & { hit: Hit }) {
  const { directory } = snapshot.value.state;
  const address = laneOfHit(hit);
  const { search: w } = later.value;
  return (
    <Option {...placed} className="option-hit">
      <div class="hit-head">
        {address === undefined ? (
          <><b>{hit.session || w.aSession}</b><span class="tag">{w.outside}</span></>
        ) : (
          <><b>{pathOf(directory, address)}</b>{isGone(directory, address) && <span class="tag">{w.deleted}</span>}</>
        )}
        <span class="hit-role">{hit.role === "cron" && <ClockIcon />}{hit.sender || roleName(hit.role)}</span>
        <time>{clock(hit.ts, Date.now())}</time>
      </div>
      <p class="hit-text">{hit.snippet.map((part, at) => (part.hit ? <mark key={at}>{part.text}</mark> : part.text))}</p>
    </Option>
  );
}
