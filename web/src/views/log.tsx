import type { VNode } from "preact";
import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { attentive } from "../attention.ts";
import { shownPart } from "../lane.ts";
import { words } from "../language.ts";
import type { Channel, Lane, LaneAddress, Pending, RoomState } from "../model.ts";
import { leaveMessage } from "../navigation.ts";
import { typingWords } from "../room.ts";
import { reuseRows, rowsOf } from "../rows.ts";
import type { Row } from "../rows.ts";
import { ScrollKeeper } from "../scroll.ts";
import { settings, shownRows } from "../settings.ts";
import { sought, unfolded } from "../ui.ts";
import { UnreadPill } from "./channel-row.tsx";
import { LaneContext, SessionContext } from "./context.ts";
import { EmptyLane } from "./empty-lane.tsx";
import { DownIcon } from "./icons.tsx";
import { LogRow } from "./message-menu.tsx";
import { useReveal } from "./reveal.ts";
import { RowView } from "./rows.tsx";
import { Ticking } from "./tools.tsx";

const MOST_ROWS = 120;
const STEP = 60;
/** A screenful. It is drawn first, so that a lane is there at once, and what stands above it right after. */
const FIRST_ROWS = 20;

interface Props {
  readonly lane: Lane;
  /** The lane of the channel that this one is under; of a channel, the lane itself. */
  readonly address: LaneAddress;
  readonly entry: Channel | undefined;
  readonly room: RoomState | undefined;
  /** How far the lane was read when it was opened. */
  readonly newAfter: number | undefined;
  readonly outbox: readonly Pending[];
  /** Whether the agent works here. */
  readonly busy: boolean;
  readonly connected: boolean;
  /** Whether some of what was missed has yet to come in. */
  readonly behind: boolean;
  readonly unread: number;
  /** Counts what the person sent: each time the list goes to its end. */
  readonly sent: number;
}

/** Rows as drawn before: the same row gives the same node, and Preact leaves it alone. */
const drawn = new WeakMap<Row, VNode>();

function draw(row: Row): VNode {
  const known = drawn.get(row);
  if (known !== undefined) return known;
  const node = <LogRow key={row.key} row={row}><RowView row={row} /></LogRow>;
  drawn.set(row, node);
  return node;
}

export function Log({ lane: whole, address, entry, room, newAfter, outbox, busy, connected, behind, unread, sent }: Props) {
  const session = useContext(SessionContext);
  const scroller = useRef<HTMLDivElement>(null);
  const column = useRef<HTMLDivElement>(null);
  const keeper = useRef<ScrollKeeper | undefined>(undefined);
  const before = useRef<Row[]>([]);
  const dividerShown = useRef<number | undefined>(undefined);
  const [following, setFollowing] = useState(true);
  const [lastShown, setLastShown] = useState<string | undefined>();
  const [filled, setFilled] = useState(false);

  const lane = useMemo(() => shownPart(whole), [whole]);
  const inPast = whole.excerpt !== undefined;

  const chosen = settings.value;
  const open = unfolded.value;
  const rows = useMemo(() => {
    before.current = reuseRows(before.current, shownRows(rowsOf(lane, address, inPast ? [] : outbox, newAfter, open), chosen));
    return before.current;
  }, [lane, address, outbox, inPast, newAfter, chosen, open]);
  const elementOf = (key: string) => column.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`);
  const lastAt = lastShown === undefined ? -1 : rows.findIndex((row) => row.key === lastShown);
  const end = lastAt < 0 ? rows.length : lastAt + 1;
  const all = filled || rows.some(({ kind }) => kind === "divider");
  const start = Math.max(0, end - (all ? MOST_ROWS : FIRST_ROWS));

  const edges = useRef({ nearTop: () => undefined as void, nearEnd: () => undefined as void });
  edges.current.nearTop = () => {
    if (!all) return;
    if (start > 0) setLastShown(rows[Math.max(MOST_ROWS, end - STEP) - 1]?.key);
    else if (lane.history === "loaded" && lane.hasOlder) session?.loadOlder();
  };
  edges.current.nearEnd = () => {
    if (end < rows.length) setLastShown(end + STEP < rows.length ? rows[end + STEP - 1]?.key : undefined);
    else session?.loadNewer();
  };

  const isEmpty = rows.length === 0;
  useEffect(() => {
    if (isEmpty) return undefined;
    const timer = setTimeout(() => setFilled(true));
    return () => clearTimeout(timer);
  }, [isEmpty]);

  useLayoutEffect(() => {
    if (scroller.current === null || column.current === null) return undefined;
    const made = new ScrollKeeper(scroller.current, column.current, {
      followingChanged: setFollowing,
      nearTop: () => edges.current.nearTop(),
      nearEnd: () => edges.current.nearEnd(),
    });
    keeper.current = made;
    return () => made.dispose();
  }, []);
  useLayoutEffect(() => {
    keeper.current?.reachesEnd(!inPast);
    const seeksNews = dividerShown.current !== newAfter && !inPast && !behind && lane.history === "loaded";
    // The end is kept when the sizes are known; asking for them here would lay out everything once more for each drawing.
    if (seeksNews || keeper.current?.following === false) keeper.current?.settle();
    if (!seeksNews) return;
    // What is new is read from its beginning, unless all of it can be seen from the end.
    dividerShown.current = newAfter;
    const divider = elementOf("divider");
    const top = scroller.current?.getBoundingClientRect().top ?? 0;
    if (divider && divider.getBoundingClientRect().top < top && sought.value === undefined) keeper.current?.show(divider, "start");
  });

  useReveal({
    lane, address, rows, drawn: [start, end], element: elementOf, keeper: () => keeper.current,
    drawAround: (at) => setLastShown(rows[Math.min(rows.length, at + STEP) - 1]?.key),
  });

  const isAttentive = attentive.value;
  useLayoutEffect(() => {
    // By the keeper itself: what was drawn knows of a scroll only one drawing later.
    session?.watch(isAttentive && !inPast && !behind && lane.history === "loaded" && end === rows.length && keeper.current?.following === true);
  });

  const toEnd = (): void => {
    session?.showLatest();
    if (session !== undefined) leaveMessage(session.current);
    keeper.current?.reachesEnd(true);
    setLastShown(undefined);
    keeper.current?.follow();
  };
  useEffect(() => {
    if (sent > 0) toEnd();
  }, [sent]);

  const { log: w } = words.value;
  const empty = lane.history === "loaded" && isEmpty;
  return (
    <div class="log-frame">
      <div ref={scroller} class="log" role="log" aria-live="off" aria-busy={!all && start > 0} aria-label={w.conversation} tabIndex={0}>
        <div ref={column} class={`column ${empty ? "is-empty" : ""}`}>
          <OlderPages lane={lane} connected={connected} onRetry={() => (rows.length > 0 && !inPast ? session?.loadOlder() : session?.fillLane())} />
          {empty && <EmptyLane entry={entry} />}
          <LaneContext.Provider value={address}>{rows.slice(start, end).map(draw)}</LaneContext.Provider>
          {end === rows.length && !inPast && (room !== undefined ? <Writing room={room} /> : busy && <Working lane={lane} />)}
          {inPast && lane.history === "loading" && rows.length > 0 && <p class="older" role="status"><span class="spinner" /></p>}
        </div>
      </div>
      {(!following || inPast) && (
        <button type="button" class="jump" aria-label={unread === 0 ? undefined : w.jumpNew(unread)} onClick={toEnd}>
          <DownIcon /><span>{w.jump}</span><UnreadPill count={unread} />
        </button>
      )}
    </div>
  );
}

function OlderPages({ lane, connected, onRetry }: { lane: Lane; connected: boolean; onRetry: () => void }) {
  if (lane.history === "failed") {
    return (
      <p class="older" role="status">
        <span>{words.value.log.notLoaded}</span>
        <button type="button" class="text-button" disabled={!connected} onClick={onRetry}>{words.value.common.tryAgain}</button>
      </p>
    );
  }
  if (lane.history === "loaded") return lane.hasOlder ? <p class="older" /> : null;
  if (lane.history === "unknown" && !connected) return null;
  return <p class="older" role="status"><span class="spinner" /><span>{words.value.log.loading}</span></p>;
}

/** Who writes in a room. The place is always there, so that nothing jumps when somebody begins. */
function Writing({ room }: { room: RoomState }) {
  const words = typingWords(room.members ?? []);
  return (
    <div class="working" role="status">
      {words !== undefined && <><span class="dots" aria-hidden="true"><i /><i /><i /></span><span>{words}</span></>}
    </div>
  );
}

/** Stands at the end as long as the agent works, so that nothing jumps between two of its steps. */
function Working({ lane }: { lane: Lane }) {
  const isWriting = lane.entries.some((entry) => entry.kind === "message" && entry.state === "live" && entry.text !== "");
  const turn = lane.runningTurn === undefined ? undefined : lane.turns[lane.runningTurn];
  return (
    <div class={`working ${isWriting ? "writing" : ""}`}>
      <span class="dots" aria-hidden="true"><i /><i /><i /></span>
      <span>{lane.stopping ? words.value.log.stopping : words.value.log.working}</span>
      {turn?.startedAt !== undefined && <span class="faint"><Ticking since={turn.startedAt} /></span>}
    </div>
  );
}
