import type { ComponentChildren } from "preact";
import { useContext, useRef } from "preact/hooks";
import { words } from "../language.ts";
import type { Row } from "../rows.ts";
import { isSpoken, subjectOf } from "../subjects.ts";
import type { SpokenRow } from "../subjects.ts";
import type { Point } from "../ui.ts";
import { LaneContext, SessionContext } from "./context.ts";
import { MoreIcon } from "./icons.tsx";
import { below, useMenuTrigger } from "./menu-trigger.ts";
import { openMessageMenu } from "./menus.ts";

/** A row of the log. One that shows a message has the menu of it. */
export function LogRow({ row, children }: { row: Row; children: ComponentChildren }) {
  const classes = `row row-${row.kind} ${row.past ? "past" : ""}`;
  if (!isSpoken(row)) return <div class={classes} data-row={row.key}>{children}</div>;
  return <MessageRow row={row} classes={classes}>{children}</MessageRow>;
}

function MessageRow({ row, classes, children }: { row: SpokenRow; classes: string; children: ComponentChildren }) {
  const session = useContext(SessionContext);
  const address = useContext(LaneContext);
  const more = useRef<HTMLButtonElement>(null);
  const open = (at: Point, touch: boolean): void => {
    const from = more.current;
    if (session === undefined || from === null) return;
    openMessageMenu(session, address, subjectOf(row), from, at, touch);
  };
  const trigger = useMenuTrigger((from, at, touch) => {
    // A key opens it where the message begins, not under all of it.
    const isKey = at.y === below(from).y;
    open(isKey && more.current !== null ? below(more.current) : at, touch);
  });
  return (
    <div class={classes} data-row={row.key} {...trigger}>
      {children}
      <button
        ref={more} type="button" class="message-more" aria-label={words.value.messages.actions} title={words.value.messages.actions}
        aria-haspopup="menu" aria-keyshortcuts="Shift+F10" onClick={(event) => open(below(event.currentTarget), false)}
      >
        <MoreIcon />
      </button>
    </div>
  );
}
