import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { snapshot, unreadTotal } from "../app.ts";
import { watchBack } from "../back.ts";
import { isComposingKey } from "../composer.ts";
import { beginTopic } from "../deeds.ts";
import { entryOf, isGone, isSplit, neighbour, topicsOf } from "../directory.ts";
import { draftOf, stepBack } from "../drafts.ts";
import { words } from "../language.ts";
import { restingLane } from "../live.ts";
import { addressOf, isBusy, laneKey, laneOf } from "../model.ts";
import type { LaneAddress } from "../model.ts";
import { lastModel, lastOwnText } from "../rows.ts";
import { isBehind } from "../session.ts";
import type { Session } from "../session.ts";
import { shortcutOf, types } from "../shortcuts.ts";
import { steady } from "../steady.ts";
import { watchSwipes } from "../swipe.ts";
import { callComposer, drawerOpen, editing, isCovered, openMenu, searching, showingDevices, showingHelp, showingModel, showingSettings, showToast, targeting } from "../ui.ts";
import { viewing } from "../viewing.ts";
import { Composer } from "./composer.tsx";
import { Deleted } from "./deleted.tsx";
import { Guide } from "./guide.tsx";
import { Header } from "./header.tsx";
import { GearIcon } from "./icons.tsx";
import { late } from "./late.tsx";
import { LinkBanner } from "./link-status.tsx";
import { Log } from "./log.tsx";
import { prefetchMenus } from "./menus.ts";
import { OpenRequests } from "./request-card.tsx";
import { RoomBar } from "./room-bar.tsx";
import { Sidebar } from "./sidebar.tsx";
import { Toasts } from "./toasts.tsx";
import { Topics } from "./topics.tsx";
import { VersionBanner } from "./version-banner.tsx";

const PREFETCH = 2_000;
/** Where the column of channels is always there. */
const WIDE = "(min-width: 760px)";
const Menu = late(() => import("./menu.tsx"));
const HelpDialog = late(() => import("./help-dialog.tsx"));
const CronDialog = late(() => import("./cron-dialog.tsx"));
const DevicesDialog = late(() => import("./devices-dialog.tsx"));
const Lightbox = late(() => import("./lightbox.tsx"));
const ModelDialog = late(() => import("./model-dialog.tsx"));
const SettingsDialog = late(() => import("./settings-dialog.tsx"));
const SearchDialog = late(() => import("./search-dialog.tsx"));

const closeDrawer = (): void => void (drawerOpen.value = false);
const turnDrawer = (): void => void (drawerOpen.value = !drawerOpen.value);

/** What is shown: another one only when some of it changed, not with each word of an answer. */
const shown = steady(() => {
  const { state, link } = snapshot.value;
  const { openLane: address, directory, unread, server, paired, policy, outbox, newAfter } = state;
  const lane = restingLane.value;
  return {
    link, address, lane, directory, unread, server, paired, policy, outbox, newAfter,
    room: state.rooms[address.chat_id], busy: isBusy(lane, Date.now()),
    known: state.epoch !== undefined, behind: isBehind(snapshot.value),
  };
});

/**
 * All of the app once it is paired. Preact leaves a part alone that is given what it was given before: parts are given
 * what they show and functions that stay, not the state as a whole.
 */
export function Chat({ session }: { session: Session }) {
  const { link, address, lane, directory, unread, server, paired, policy, outbox, newAfter, room, busy, known, behind } = shown.value;
  const [sent, setSent] = useState(0);
  const menuButton = useRef<HTMLButtonElement>(null);
  const dock = useRef<HTMLDivElement>(null);
  const key = laneKey(address);
  const channel = entryOf(directory, { chat_id: address.chat_id });
  const entry = entryOf(directory, address);
  const threads = useMemo(() => topicsOf({ directory, unread, openLane: address }), [directory, unread, address]);
  const { answers } = draftOf(address);
  const connected = link.kind === "open";
  const isDrawerOpen = drawerOpen.value;
  const w = words.value;

  const choose = useCallback((chosen: LaneAddress): void => {
    session.openLane(chosen);
    closeDrawer();
  }, [session]);
  const recall = useCallback(() => {
    const { current } = session;
    return lastOwnText(laneOf(current, address), address, current.outbox);
  }, [session, key]);
  const noteSent = useCallback(() => setSent((count) => count + 1), []);

  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (isComposingKey(event) || event.defaultPrevented || isCovered()) return;
      const shortcut = shortcutOf(event);
      if (shortcut === undefined || (types(event) && isWriting(event.target))) return;
      if (shortcut === "back") return escape();
      event.preventDefault();
      if (shortcut === "help") return void (showingHelp.value = true);
      if (shortcut === "newTopic") {
        drawerOpen.value = false;
        return beginTopic(session);
      }
      const { directory, openLane } = session.current;
      if (shortcut === "switch" || shortcut === "searchAll" || shortcut === "searchHere") {
        const here = openLane.thread_id === undefined ? "chat" : "thread";
        drawerOpen.value = false;
        return void (searching.value = { scope: shortcut === "searchHere" ? here : "all" });
      }
      const next = neighbour(directory, openLane, shortcut === "nextChannel" ? 1 : -1);
      if (next !== undefined) session.openLane(addressOf(next));
    };
    const escape = (): void => {
      if (isDrawerOpen) closeDrawer();
      else if (stepBack(address)) return;
      else if (busy && !lane.stopping) session.stopTurn();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [isDrawerOpen, busy, lane.stopping, key, session]);

  useEffect(() => {
    if (!connected) return undefined;
    // Soon enough to be there at the first Ctrl+K, and when the gateway is not.
    const timer = setTimeout(() => {
      SearchDialog.prefetch();
      Menu.prefetch();
      prefetchMenus();
    }, PREFETCH);
    return () => clearTimeout(timer);
  }, [connected]);

  const namesChannel = editing.value?.kind === "newChannel";
  useEffect(() => {
    if (namesChannel && !matchMedia(WIDE).matches) drawerOpen.value = true;
  }, [namesChannel]);

  useEffect(() => {
    if (!isDrawerOpen) return undefined;
    const target = ["input", "[aria-current]"].map((part) => document.querySelector<HTMLElement>(`#sidebar ${part}`)).find((part) => part);
    target?.focus();
    // On a wide screen the column is always there, and nothing may be left inert behind a drawer that is none.
    const wide = matchMedia(WIDE);
    const close = (): void => void (drawerOpen.value = false);
    wide.addEventListener("change", close);
    return () => {
      wide.removeEventListener("change", close);
      // Only now is the button no part any more of what is inert.
      const left = document.activeElement;
      if (left === null || left === document.body || left.closest("#sidebar") !== null) menuButton.current?.focus();
    };
  }, [isDrawerOpen]);

  useEffect(() => {
    const unwatch = watchBack(closeDrawer);
    const unswipe = watchSwipes(() => drawerOpen.peek(), (open) => (open ? !isCovered() && (drawerOpen.value = true) : closeDrawer()));
    return () => {
      unwatch();
      unswipe();
    };
  }, []);

  useEffect(() => {
    // The dialog says it itself, and a toast would stand behind it.
    if (paired !== undefined && !showingDevices.peek()) showToast(words.peek().app.paired(paired.device.name));
  }, [paired]);

  useEffect(() => {
    const watch = new ResizeObserver(() => {
      document.documentElement.style.setProperty("--dock", `${dock.current?.offsetHeight ?? 0}px`);
    });
    if (dock.current !== null) watch.observe(dock.current);
    return () => watch.disconnect();
  }, []);

  return (
    <div class="app">
      <button type="button" class="skip" inert={isDrawerOpen} onClick={callComposer}>{w.lanes.skip}</button>
      <Sidebar
        directory={directory} unread={unread} openLane={address} server={server} paired={paired} link={link} open={isDrawerOpen}
        onChoose={choose} onLeave={closeDrawer}
      />
      {isDrawerOpen && <button type="button" class="scrim" aria-label={w.lanes.closeChannels} onClick={closeDrawer} />}
      <main class="chat" inert={isDrawerOpen}>
        <div>
          <Header
            channel={channel} thread={address.thread_id === undefined ? undefined : entry} model={lastModel(lane)}
            unread={unreadTotal.value} drawerOpen={isDrawerOpen} menuButton={menuButton} onDrawer={turnDrawer}
          />
          {room !== undefined && <RoomBar key={key} room={room} connected={connected} />}
          {threads !== undefined && channel !== undefined && (
            <Topics openLane={address} unread={unread} channel={channel} threads={threads} onChoose={choose} />
          )}
        </div>
        <Log
          key={key} room={room} lane={lane} address={address} entry={entry} newAfter={newAfter} outbox={outbox} busy={busy}
          connected={connected} behind={behind} unread={unread[key] ?? 0} sent={sent}
        />
        <div ref={dock} class="dock">
          <VersionBanner />
          <LinkBanner link={link} known={known} />
          {server?.rehearsal && channel?.is_default && <Guide key={`guide-${key}`} lane={lane} />}
          <OpenRequests key={`asked-${key}`} asked={lane.asked} />
          {isGone(directory, address) ? <Deleted key={key} address={address} channel={channel} />
            : entry?.automation && answers === undefined ? <ReadOnly /> : (
            <Composer
              address={address} busy={busy} stopping={lane.stopping} connected={connected} policy={policy}
              room={room} isRoom={entry?.kind === "room"}
              placeholder={isSplit(entry) ? w.composer.toTopic : entry?.kind === "room" ? w.composer.toRoom : w.composer.toAgent}
              recall={recall} onSent={noteSent}
            />
          )}
        </div>
      </main>
      {openMenu.value !== undefined && <Menu onFailure={() => (openMenu.value = undefined)} />}
      {targeting.value !== undefined && <CronDialog onFailure={() => (targeting.value = undefined)} />}
      {searching.value !== undefined && <SearchDialog onFailure={() => (searching.value = undefined)} />}
      {showingDevices.value && <DevicesDialog onFailure={() => (showingDevices.value = false)} />}
      {showingSettings.value && <SettingsDialog onFailure={() => (showingSettings.value = false)} />}
      {showingModel.value && <ModelDialog onFailure={() => (showingModel.value = false)} />}
      {showingHelp.value && <HelpDialog onFailure={() => (showingHelp.value = false)} />}
      {viewing.value !== undefined && <Lightbox onFailure={() => (viewing.value = undefined)} />}
      <Toasts />
      <Announcer key={`announcer-${key}`} busy={busy} />
    </div>
  );
}

/** Whether a letter that is pressed there is written. */
function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}

function ReadOnly() {
  return (
    <p class="read-only" role="note">
      <GearIcon /><span>{words.value.lanes.onlyReports}</span>
    </p>
  );
}

/** Tells a screen reader when a reply begins and ends, and nothing in between. */
function Announcer({ busy }: { busy: boolean }) {
  const [heard, setHeard] = useState<"replying" | "complete" | undefined>();
  const wasBusy = useRef(false);
  useEffect(() => {
    if (busy !== wasBusy.current) setHeard(busy ? "replying" : "complete");
    wasBusy.current = busy;
  }, [busy]);
  return <div class="off-screen" role="status" aria-live="polite">{heard && words.value.log[heard]}</div>;
}
