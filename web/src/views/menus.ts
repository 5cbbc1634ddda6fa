/** The menus: what is in them comes when the first one is opened, or a little sooner. */
import { words } from "../language.ts";
import { showToast } from "../ui.ts";

const message = () => import("./message-actions.ts");
const lane = () => import("./lane-menu.ts");

type Given<Open extends (...given: never[]) => void> = Parameters<Open>;

export function openMessageMenu(...given: Given<Awaited<ReturnType<typeof message>>["openMessageMenu"]>): void {
  message().then((menu) => menu.openMessageMenu(...given), failed);
}

export function openLaneMenu(...given: Given<Awaited<ReturnType<typeof lane>>["openLaneMenu"]>): void {
  lane().then((menu) => menu.openLaneMenu(...given), failed);
}

export function prefetchMenus(): void {
  void Promise.allSettled([message(), lane()]);
}

function failed(): void {
  showToast(words.value.app.partMissing, { tone: "bad" });
}
