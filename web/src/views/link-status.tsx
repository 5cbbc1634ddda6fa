import { useContext, useEffect, useState } from "preact/hooks";
import type { Link } from "../connection.ts";
import { words } from "../language.ts";
import { SessionContext } from "./context.ts";

export interface LinkSummary {
  readonly text: string;
  readonly tone: "good" | "busy" | "away";
}

/** A short loss heals by itself before anybody needs to hear of it. */
const PATIENCE = 1_200;

export function linkSummary(link: Link): LinkSummary {
  const { link: w } = words.value;
  switch (link.kind) {
    case "open": return { text: w.connected, tone: "good" };
    case "connecting": return { text: w.connecting, tone: "busy" };
    case "waiting": return { text: link.restarting ? w.restarting : w.away, tone: "away" };
    case "refused": return { text: w.unpaired, tone: "away" };
    case "stopped": return { text: w.away, tone: "away" };
  }
}

/** Says above the composer that there is no connection, once that lasts. */
export function LinkBanner({ link, known }: { link: Link; known: boolean }) {
  const session = useContext(SessionContext);
  const [shown, setShown] = useState(false);
  const connected = link.kind === "open";
  useEffect(() => {
    if (connected) return setShown(false);
    const timer = setTimeout(() => setShown(true), PATIENCE);
    return () => clearTimeout(timer);
  }, [connected]);
  if (connected || !shown) return null;
  return (
    <div class="banner" role="status">
      <span class={`dot ${linkSummary(link).tone}`} />
      <span class="banner-text">{explanation(link, known)}</span>
      {link.kind === "waiting" && <Countdown until={link.until} />}
      <button type="button" class="text-button" disabled={link.kind !== "waiting"} onClick={() => session?.wake()}>{words.value.link.tryNow}</button>
    </div>
  );
}

function explanation(link: Link, known: boolean): string {
  const { link: w } = words.value;
  if (link.kind === "waiting" && link.restarting) return w.restartingLong;
  return known ? w.awayLong : w.silentLong;
}

function Countdown({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [until]);
  const seconds = Math.max(0, Math.ceil((until - now) / 1000));
  return <span class="faint countdown" aria-hidden="true">{words.value.time.seconds(String(seconds))}</span>;
}
