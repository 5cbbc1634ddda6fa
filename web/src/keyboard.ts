/**
 * A keyboard on the screen.
 *
 * Browsers that know `interactive-widget` make the page smaller themselves. Others lay the keyboard over the page, or
 * push the page up behind it: the app then gets as high as what can be seen, and stays where it is.
 */

/** Less than this is a bar of the browser that comes and goes. */
const LEAST = 80;

/** Pixels of the page that something covers from below; nothing while the person has enlarged the page. */
export function coveredBy({ height, scale }: { readonly height: number; readonly scale: number }, page: number): number {
  const covered = page - height;
  return scale > 1.01 || covered < LEAST ? 0 : Math.round(covered);
}

export function watchKeyboard(page: Document): void {
  const seen = window.visualViewport;
  if (seen === null) return;
  const look = (): void => {
    const covered = coveredBy(seen, innerHeight);
    page.documentElement.style.setProperty("--keyboard", `${covered}px`);
    if (covered > 0 && seen.offsetTop > 0) scrollTo(0, 0);
  };
  seen.addEventListener("resize", look);
  seen.addEventListener("scroll", look);
}
