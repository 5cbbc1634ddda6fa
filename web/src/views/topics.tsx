import { useContext, useEffect, useRef } from "preact/hooks";
import { createTopic, rename } from "../deeds.ts";
import { isSplit } from "../directory.ts";
import { words } from "../language.ts";
import { addressOf, laneKey, sameLane } from "../model.ts";
import type { Channel, LaneAddress, State } from "../model.ts";
import { editing } from "../ui.ts";
import { CronBadge, laneLabel, UnreadPill, useFocusAfter, useFocusHeir } from "./channel-row.tsx";
import { SessionContext } from "./context.ts";
import { PlusIcon } from "./icons.tsx";
import { openLaneMenu } from "./menus.ts";
import { useMenuTrigger } from "./menu-trigger.ts";
import { NameField } from "./name-field.tsx";

interface Props {
  readonly openLane: LaneAddress;
  readonly unread: State["unread"];
  readonly channel: Channel;
  readonly threads: readonly Channel[];
  readonly onChoose: (address: LaneAddress) => void;
}

/** What is seen of the chips beside the one that is scrolled in. */
const MARGIN = 16;

const closeEdit = (): void => void (editing.value = undefined);

/** Switches between a channel as a whole and the threads under it. */
export function Topics({ openLane, unread, channel, threads, onChoose }: Props) {
  const session = useContext(SessionContext);
  const list = useRef<HTMLUListElement>(null);
  const open = laneKey(openLane);
  const inAll = unread[laneKey(channel)] ?? 0;
  const isListed = threads.some((thread) => sameLane(thread, openLane));
  const isNaming = editing.value?.kind === "newTopic";
  useEffect(() => {
    // Sideways only: the page itself must not move.
    const bar = list.current;
    const chip = bar?.querySelector<HTMLElement>(isNaming ? ".name-field" : "[aria-current]");
    if (bar === null || chip === null || chip === undefined) return;
    const left = chip.offsetLeft - bar.offsetLeft - MARGIN;
    const right = left + chip.offsetWidth + 2 * MARGIN;
    if (left < bar.scrollLeft) bar.scrollLeft = left;
    else if (right > bar.scrollLeft + bar.clientWidth) bar.scrollLeft = right - bar.clientWidth;
  }, [open, isListed, isNaming]);
  const { lanes: w } = words.value;
  return (
    <nav class="topics" aria-label={w.topics}>
      <ul ref={list}>
        <li>
          <button
            type="button" class="topic" aria-label={inAll > 0 ? w.allUnread(inAll) : w.all} aria-current={sameLane(openLane, channel) ? "page" : undefined}
            onClick={() => onChoose(addressOf(channel))}
          >
            <span>{w.all}</span>
            <UnreadPill count={inAll} />
          </button>
        </li>
        {isNaming && (
          <li>
            <NameField
              label={w.topicName} placeholder={w.topicNameOptional} mayBeEmpty onClose={closeEdit}
              submit={async (name) => (session === undefined ? undefined : createTopic(session, addressOf(channel), name))}
            />
          </li>
        )}
        {threads.map((thread) => (
          <Chip
            key={laneKey(thread)} thread={thread} isOpen={sameLane(openLane, thread)} unread={unread[laneKey(thread)] ?? 0} onChoose={onChoose}
          />
        ))}
      </ul>
      {isSplit(channel) && (
        <button
          type="button" class="topic new-topic" aria-label={w.newTopic} title={w.newTopicKey}
          onClick={() => (editing.value = { kind: "newTopic" })}
        >
          <PlusIcon /><span>{w.newTopic}</span>
        </button>
      )}
    </nav>
  );
}

function Chip({ thread, isOpen, unread, onChoose }: { thread: Channel; isOpen: boolean; unread: number; onChoose: Props["onChoose"] }) {
  const session = useContext(SessionContext);
  const button = useRef<HTMLButtonElement>(null);
  const trigger = useMenuTrigger((from, at) => openLaneMenu(session, [thread], from, at, "chip"));
  const edit = editing.value;
  const renaming = edit?.kind === "rename" && edit.place === "chip" && edit.key === laneKey(thread);
  useFocusAfter(renaming, button);
  useFocusHeir(button);
  if (renaming) {
    return (
      <li>
        <NameField
          label={words.value.lanes.newName(thread.name)} initial={thread.name} onClose={closeEdit}
          submit={async (name) => (session === undefined ? undefined : rename(session, thread, name))}
        />
      </li>
    );
  }
  return (
    <li>
      <button
        ref={button} type="button" class="topic" aria-label={laneLabel(thread, unread)} {...trigger} aria-keyshortcuts="Shift+F10" title={thread.name}
        aria-current={isOpen ? "page" : undefined} onClick={() => onChoose(addressOf(thread))}
      >
        <span class="topic-name">{thread.name}</span>
        <CronBadge entry={thread} />
        <UnreadPill count={unread} />
      </button>
    </li>
  );
}
