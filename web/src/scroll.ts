/**
 * Keeps the reader's place in a growing list.
 *
 * At the end it follows; anywhere else the block at the top of the window stays where it is, whatever grows or comes
 * in above or below it.
 */
export interface ScrollWatcher {
  followingChanged(following: boolean): void;
  nearTop(): void;
  nearEnd(): void;
}

const END_TOLERANCE = 40;
const NEAR = 600;

export class ScrollKeeper {
  private readonly scroller: HTMLElement;
  private readonly column: HTMLElement;
  private readonly watcher: ScrollWatcher;
  private readonly observer: ResizeObserver;
  private atEnd = true;
  /** Whether the end of the list is the end of the lane; else it is only where the next page will come in. */
  private hasEnd = true;
  private lastTop = 0;
  private anchor: { readonly element: Element; readonly top: number } | undefined;

  constructor(scroller: HTMLElement, column: HTMLElement, watcher: ScrollWatcher) {
    this.scroller = scroller;
    this.column = column;
    this.watcher = watcher;
    this.observer = new ResizeObserver(() => this.settle());
    this.observer.observe(scroller);
    this.observer.observe(column);
    scroller.addEventListener("scroll", this.scrolled, { passive: true });
    column.addEventListener("click", this.hold, { capture: true });
  }

  dispose(): void {
    this.observer.disconnect();
    this.scroller.removeEventListener("scroll", this.scrolled);
    this.column.removeEventListener("click", this.hold, { capture: true });
  }

  get following(): boolean {
    return this.atEnd && this.hasEnd;
  }

  /** Says whether the list reaches the end of the lane. */
  reachesEnd(hasEnd: boolean): void {
    this.hasEnd = hasEnd;
  }

  /** Puts a block in view and stays there. */
  show(block: HTMLElement, where: "start" | "center"): void {
    block.scrollIntoView({ block: where });
    this.become(this.hasEnd && this.distance() <= END_TOLERANCE);
    this.lastTop = this.scroller.scrollTop;
    this.anchor = { element: block, top: block.getBoundingClientRect().top };
  }

  /** Goes to the end and stays there. */
  follow(): void {
    this.become(true);
    this.settle();
  }

  /** Puts the place right after something changed its size. */
  settle(): void {
    if (this.following) {
      this.scroller.scrollTop = this.scroller.scrollHeight;
    } else if (this.anchor?.element.isConnected) {
      this.scroller.scrollTop += this.anchor.element.getBoundingClientRect().top - this.anchor.top;
    }
    this.lastTop = this.scroller.scrollTop;
    this.reportEdges();
  }

  private readonly scrolled = (): void => {
    const top = this.scroller.scrollTop;
    // Growth at the end looks like distance, too: only a move upwards is a person who leaves it.
    if (this.distance() <= END_TOLERANCE) this.become(this.hasEnd);
    else if (top < this.lastTop - 1) this.become(false);
    this.lastTop = top;
    if (this.following) this.anchor = undefined;
    else this.remember();
    this.reportEdges();
  };

  /** What a person opens must unfold below the finger, not push it away. */
  private readonly hold = (event: MouseEvent): void => {
    const target = event.target instanceof Element ? event.target.closest("summary, [aria-expanded]") : null;
    if (target === null || !this.following) return;
    this.atEnd = false;
    this.anchor = { element: target, top: target.getBoundingClientRect().top };
    requestAnimationFrame(() => this.become(this.distance() <= END_TOLERANCE));
  };

  private become(atEnd: boolean): void {
    this.atEnd = atEnd;
    this.watcher.followingChanged(atEnd);
  }

  private distance(): number {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
  }

  private reportEdges(): void {
    if (this.scroller.scrollTop < NEAR) this.watcher.nearTop();
    if (this.distance() < NEAR) this.watcher.nearEnd();
  }

  private remember(): void {
    const blocks = this.column.querySelectorAll("[data-anchor]");
    const edge = this.scroller.getBoundingClientRect().top;
    let low = 0;
    let high = blocks.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((blocks[middle]?.getBoundingClientRect().bottom ?? 0) > edge) high = middle;
      else low = middle + 1;
    }
    const element = blocks[low];
    this.anchor = element === undefined ? undefined : { element, top: element.getBoundingClientRect().top };
  }
}
