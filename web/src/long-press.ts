/** A finger that stays where it is. Browsers do not all report it: on iOS no `contextmenu` comes. */
export const LONG_PRESS = 500;
const TOLERANCE = 10;

type After = (delay: number, work: () => void) => () => void;

export class LongPress {
  private readonly after: After;
  private readonly held: (x: number, y: number) => void;
  private start: { readonly x: number; readonly y: number } | undefined;
  private cancelTimer: () => void = () => undefined;

  constructor(after: After, held: (x: number, y: number) => void) {
    this.after = after;
    this.held = held;
  }

  down(x: number, y: number): void {
    this.up();
    this.start = { x, y };
    this.cancelTimer = this.after(LONG_PRESS, () => {
      this.start = undefined;
      this.held(x, y);
    });
  }

  move(x: number, y: number): void {
    if (this.start !== undefined && Math.hypot(x - this.start.x, y - this.start.y) > TOLERANCE) this.up();
  }

  /** The finger left, or it does something else. */
  up(): void {
    this.cancelTimer();
    this.start = undefined;
  }
}
