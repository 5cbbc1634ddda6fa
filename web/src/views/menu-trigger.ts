import { useEffect, useMemo, useRef } from "preact/hooks";
import { LongPress } from "../long-press.ts";
import { isPressed } from "../shortcuts.ts";
import type { Point } from "../ui.ts";

/** How long after the finger left its click may still come. */
const CLICK_DELAY = 350;

type Open = (from: HTMLElement, at: Point, touch: boolean) => void;

/** Where the browser's own menu is of more use: a link, a field, words that are marked. */
const OWN_MENU = "a, input, textarea, audio, video";

/**
 * All the ways to ask for the menu of an element: right button, long press, Shift+F10, the Menu key.
 *
 * `open` is told whether it was a finger.
 */
export function useMenuTrigger(open: Open) {
  const latest = useRef(open);
  latest.current = open;
  const element = useRef<HTMLElement | undefined>(undefined);
  const press = useMemo(() => new LongPress(after, (x, y) => {
    if (element.current === undefined) return;
    swallowClick();
    latest.current(element.current, { x, y }, true);
  }), []);
  useEffect(() => () => press.up(), [press]);

  return {
    onContextMenu: (event: MouseEvent): void => {
      if (hasOwnMenu(event)) return;
      event.preventDefault();
      press.up();
      const touch = (event as PointerEvent).pointerType === "touch";
      latest.current(event.currentTarget as HTMLElement, { x: event.clientX, y: event.clientY }, touch);
    },
    onKeyDown: (event: KeyboardEvent): void => {
      if (event.defaultPrevented || !isPressed("messageMenu", event)) return;
      event.preventDefault();
      const from = event.currentTarget as HTMLElement;
      latest.current(from, below(from), false);
    },
    onPointerDown: (event: PointerEvent): void => {
      element.current = event.currentTarget as HTMLElement;
      if (event.pointerType !== "mouse" && event.isPrimary && !hasOwnMenu(event)) press.down(event.clientX, event.clientY);
    },
    onPointerMove: (event: PointerEvent): void => press.move(event.clientX, event.clientY),
    onPointerUp: (): void => press.up(),
    onPointerCancel: (): void => press.up(),
  };
}

function hasOwnMenu({ target, currentTarget }: Event): boolean {
  if (target instanceof Element && target.closest(OWN_MENU) !== null) return true;
  const marked = getSelection();
  return marked !== null && !marked.isCollapsed && marked.containsNode(currentTarget as Node, true);
}

/** Where a menu opens that belongs to an element rather than to a point. */
export function below(element: HTMLElement): Point {
  const { left, bottom } = element.getBoundingClientRect();
  return { x: left, y: bottom + 4 };
}

function after(delay: number, work: () => void): () => void {
  const timer = setTimeout(work, delay);
  return () => clearTimeout(timer);
}

/** The finger that held the element still has to leave it, and that must press nothing. */
function swallowClick(): void {
  const swallow = (event: Event): void => {
    event.preventDefault();
    event.stopPropagation();
  };
  const stop = (): void => {
    document.removeEventListener("click", swallow, { capture: true });
    document.removeEventListener("pointerdown", stop, { capture: true });
  };
  document.addEventListener("click", swallow, { capture: true });
  document.addEventListener("pointerdown", stop, { capture: true });
  document.addEventListener("pointerup", () => setTimeout(stop, CLICK_DELAY), { capture: true, once: true });
}
