import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { agree } from "../deeds.ts";
import { words } from "../language.ts";
import type { RoomState } from "../model.ts";
import { countWords, leaseWords, limitWords, linkWords } from "../room.ts";
import { SessionContext } from "./context.ts";
import { Face } from "./face.tsx";
import { AlertIcon, ClockIcon, HandIcon, TerminalIcon } from "./icons.tsx";
import { Mark } from "./said.tsx";

const MOST_FACES = 5;

/**
 * Under the header of a room: who is here, what is shared with it, who is silent, and the person's last word on it.
 *
 * Only what can be acted on, or explains the silence, takes its place: on a phone there is little of it.
 */
export function RoomBar({ room, connected }: { room: RoomState; connected: boolean }) {
  const session = useContext(SessionContext);
  const { chat_id, members = [], leases = [], limits = [], stopped_by } = room;
  const { common, room: w } = words.value;
  const why = linkWords(room);
  const now = Date.now();
  const byMe = members.some((member) => member.own && member.name === stopped_by);
  const isIn = room.link === "joined";
  const holds = (on: boolean) => session !== undefined && agree(session.request({ type: "room.stop", chat_id, on }));
  return (
    <section class="room-bar" aria-label={w.room}>
      <div class="room-line">
        <Members room={room} />
        {isIn && stopped_by === undefined && (
          <button type="button" class="room-button stop-all" disabled={!connected} onClick={() => holds(true)}><HandIcon /><span>{w.stopAll}</span></button>
        )}
      </div>
      {why !== undefined && (
        <p class={`room-note ${room.link === "failed" ? "bad" : ""}`} role="status">
          {room.link === "failed" ? <AlertIcon /> : <span class="spinner" />}<span>{why}</span>
        </p>
      )}
      {isIn && stopped_by !== undefined && (
        <p class="room-note warn" role="status">
          <HandIcon /><span>{byMe ? w.youStopped : w.stopped(stopped_by)}</span>
          <button type="button" class="text-button" disabled={!connected} onClick={() => holds(false)}>{w.goOn}</button>
        </p>
      )}
      {isIn && leases.map((lease) => (
        <p key={lease.agent} class="room-note lease">
          <TerminalIcon /><span>{leaseWords(lease, now)}</span>
          <button
            type="button" class="text-button" disabled={!connected} aria-label={w.revoke(lease.name)}
            onClick={() => session !== undefined && agree(
              session.request({ type: "lease.revoke", chat_id, agent: lease.agent }), w.revoked(lease.name),
            )}
          >
            {common.revoke}
          </button>
        </p>
      ))}
      {isIn && stopped_by === undefined && limits.map((limit) => <p key={limit.agent} class="room-note"><ClockIcon /><span>{limitWords(limit, now)}</span></p>)}
    </section>
  );
}

function Members({ room: { members = [] } }: { room: RoomState }) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const here = members.filter((member) => member.here);
  const { room: w } = words.value;
  useEffect(() => {
    if (!open) return undefined;
    const outside = (event: PointerEvent): void => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [open]);
  const pressed = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !open) return;
    event.preventDefault();
    setOpen(false);
    button.current?.focus();
  };
  return (
    <div ref={box} class="room-members" onKeyDown={pressed}>
      <button
        ref={button} type="button" class="room-button" aria-expanded={open} aria-controls="room-members" aria-label={w.who(countWords(members))}
        onClick={() => setOpen(!open)}
      >
        <span class="faces">{here.slice(0, MOST_FACES).map((member) => <Face key={member.name} name={member.name} kind={member.kind} />)}</span>
        <span>{countWords(members)}</span>
      </button>
      {open && (
        <ul id="room-members" class="member-list" aria-label={w.members} tabIndex={0}>
          {members.map((member) => (
            <li key={`${member.name}/${member.here}`} class={member.here ? "" : "away"}>
              <Face name={member.name} kind={member.kind} />
              <span class="member-name">{member.name}{member.own && w.you}</span>
              <Mark kind={member.kind} />
              <span class="faint">{member.typing ? w.writing : member.here ? "" : w.notHere}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
