/**
 * The back button, and the gesture that stands for it, closes what lies over the chat before it leaves anything.
 *
 * While something is open, the history has one entry more, for the same lane. Going back takes that entry away, and the
 * innermost thing is closed. What is closed in another way takes the entry along, unless a lane was opened at the same
 * time, which then stands in its place.
 */
import { effect, signal } from "@preact/signals";
import { drawerOpen, isCovered, openMenu } from "./ui.ts";

interface Entry {
  readonly cover?: true;
}

/**
 * Whether the app itself is going back, from the entry of something that was closed.
 *
 * A browser takes its time for that. What is written into the address bar meanwhile would be lost with that entry.
 */
export const leavingCover = signal(false);

/** Whether the entry of the history that one is at stands for something that is open. */
export function isAtCover(): boolean {
  return (history.state as Entry | null)?.cover === true;
}

export function watchBack(closeDrawer: () => void): () => void {
  // A page that was loaded anew has nothing open.
  if (isAtCover()) history.replaceState(null, "");
  const anyOpen = (): boolean => isCovered() || drawerOpen.value;
  const add = (): void => history.pushState({ cover: true } satisfies Entry, "");
  let closing: number | undefined;
  const stop = effect(() => {
    if (anyOpen()) {
      if (!isAtCover()) add();
      return;
    }
    // Two drawings later whoever closes one thing to open another has done so, and a lane is in the address bar.
    cancelAnimationFrame(closing ?? 0);
    closing = requestAnimationFrame(() => {
      closing = requestAnimationFrame(() => {
        if (!isAtCover() || anyOpen() || leavingCover.peek()) return;
        leavingCover.value = true;
        history.back();
      });
    });
  });
  const wentBack = (): void => {
    const own = leavingCover.peek();
    leavingCover.value = false;
    if (!anyOpen() || isAtCover()) return;
    // Something may have been opened meanwhile: it stays, with an entry of its own.
    if (!own) closeInnermost(closeDrawer);
    if (anyOpen()) add();
  };
  addEventListener("popstate", wentBack);
  return () => {
    stop();
    leavingCover.value = false;
    removeEventListener("popstate", wentBack);
  };
}

function closeInnermost(closeDrawer: () => void): void {
  const menu = openMenu.value;
  const dialog = [...document.querySelectorAll<HTMLDialogElement>("dialog[open]")].at(-1);
  if (menu !== undefined) {
    openMenu.value = undefined;
    menu.from.focus({ preventScroll: true });
  } else if (dialog !== undefined) {
    // As Esc does, so that a dialog may go back one step of its own.
    if (dialog.dispatchEvent(new Event("cancel", { cancelable: true }))) dialog.close();
  } else {
    closeDrawer();
  }
}
