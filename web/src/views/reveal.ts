import { useEffect } from "preact/hooks";
import { words } from "../language.ts";
import { sameLane } from "../model.ts";
import type { Lane, LaneAddress } from "../model.ts";
import { keyAt } from "../rows.ts";
import type { Row } from "../rows.ts";
import type { ScrollKeeper } from "../scroll.ts";
import { showToast, sought, toggleFold } from "../ui.ts";

const FLASH = 2_400;

interface Place {
  readonly lane: Lane;
  readonly address: LaneAddress;
  readonly rows: readonly Row[];
  /** The rows that are drawn: from the first up to, not with, the last. */
  readonly drawn: readonly [number, number];
  readonly element: (key: string) => HTMLElement | null | undefined;
  readonly keeper: () => ScrollKeeper | undefined;
  /** Draws the rows around this one. */
  readonly drawAround: (at: number) => void;
}

/** Takes the person to the message that they looked for, once it is here. */
export function useReveal({ lane, address, rows, drawn, element, keeper, drawAround }: Place): void {
  const wanted = sought.value;
  useEffect(() => () => {
    // Who goes elsewhere meanwhile does not look for it any more.
    if (sought.value !== undefined && sameLane(sought.value.address, address)) sought.value = undefined;
  }, []);
  useEffect(() => {
    if (wanted === undefined || !sameLane(wanted.address, address) || lane.history !== "loaded") return;
    // The focus is settled by everybody who hears of the lane now; only then is the message found.
    const found = (): void => void setTimeout(() => (sought.value = undefined));
    const key = keyAt(lane, wanted.order);
    const at = rows.findIndex((row) => row.key === key);
    const fold = at < 0 && key !== undefined ? rows.find((row) => row.kind === "fold" && !row.open && row.holds.includes(key)) : undefined;
    if (fold !== undefined) return toggleFold(fold.key, true);
    if (key === undefined || at < 0) {
      found();
      return showToast(words.value.log.cannotShow, { tone: "bad" });
    }
    if (at < drawn[0] || at >= drawn[1]) return drawAround(at);
    const block = element(key);
    if (!block) return;
    keeper()?.show(block, "center");
    flash(block);
    found();
  }, wanted === undefined ? [] : [wanted, lane, rows, drawn[0], drawn[1]]);
}

function flash(block: HTMLElement): void {
  block.tabIndex = -1;
  block.focus({ preventScroll: true });
  block.classList.remove("found");
  // Read in between, so that the same message flashes again.
  void block.offsetWidth;
  block.classList.add("found");
  setTimeout(() => block.classList.remove("found"), FLASH);
}
