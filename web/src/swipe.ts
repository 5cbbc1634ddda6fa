/** A finger that moves to the side: what it means, from where it began to where it is. */

export type Swipe = "open" | "close" | "none";

/** Pixels after which a movement is meant. */
const FAR = 56;
/** How much more to the side than up or down it goes. */
const FLAT = 2;
/** Of the width: where a finger begins that opens the drawer. */
const EDGE = 0.4;

export interface Touch {
  readonly x: number;
  readonly y: number;
  /** Milliseconds. */
  readonly at: number;
}

export function swipeOf(began: Touch, now: Touch, width: number, isOpen: boolean): Swipe {
  const [across, down] = [now.x - began.x, Math.abs(now.y - began.y)];
  // What is left of a finger that touched something that is gone may be told late.
  if (now.at < began.at || Math.abs(across) < FAR || Math.abs(across) < FLAT * down) return "none";
  if (isOpen) return across < 0 ? "close" : "none";
  return across > 0 && began.x <= width * EDGE ? "open" : "none";
}

/** Whether something under the finger goes to the side itself, or takes the finger for something else. */
function isTaken(from: EventTarget | null): boolean {
  for (let node = from instanceof Element ? from : null; node !== null; node = node.parentElement) {
    if (node.matches("input, textarea, dialog, [role=menu]")) return true;
    if (node.scrollWidth > node.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(node).overflowX)) return true;
  }
  return false;
}

/** Opens and closes the drawer by a finger, where there is one. */
export function watchSwipes(isOpen: () => boolean, move: (open: boolean) => void): () => void {
  const narrow = matchMedia("(max-width: 759px)");
  let began: Touch | undefined;
  const down = (event: TouchEvent): void => {
    const [finger] = event.touches;
    const isOne = event.touches.length === 1 && finger !== undefined;
    began = isOne && narrow.matches && !isTaken(event.target) ? { x: finger.clientX, y: finger.clientY, at: event.timeStamp } : undefined;
  };
  const moved = (event: TouchEvent): void => {
    const [finger] = event.touches;
    if (began === undefined || finger === undefined) return;
    // A text that is being selected moves with the finger, too.
    if (getSelection()?.isCollapsed === false) return void (began = undefined);
    const swipe = swipeOf(began, { x: finger.clientX, y: finger.clientY, at: event.timeStamp }, innerWidth, isOpen());
    if (swipe === "none") return;
    began = undefined;
    move(swipe === "open");
  };
  const listening = new AbortController();
  addEventListener("touchstart", down, { passive: true, signal: listening.signal });
  addEventListener("touchmove", moved, { passive: true, signal: listening.signal });
  return () => listening.abort();
}
