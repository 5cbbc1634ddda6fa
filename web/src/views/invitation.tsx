import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { snapshot } from "../app.ts";
import { remaining } from "../format.ts";
import { words } from "../language.ts";
import type { Invitation as Invited } from "../protocol/frames.ts";
import { later } from "../words/later.ts";
import { SessionContext } from "./context.ts";
import { CopyButton } from "./copy-button.tsx";
import { AlertIcon } from "./icons.tsx";

type Shown = "asking" | { readonly failure: string } | { readonly link: Invited; readonly until: number };

/** A link that lets one more device in, for its camera; it goes when the device has come. */
export function Invitation({ onEnd }: { onEnd: () => void }) {
  const session = useContext(SessionContext);
  const [shown, setShown] = useState<Shown>("asking");
  const [now, setNow] = useState(Date.now());
  const back = useRef<HTMLButtonElement>(null);
  const { paired } = snapshot.value.state;
  const before = useRef(paired);
  const { common } = words.value;
  const { devices: w } = later.value;

  const ask = async (): Promise<void> => {
    setShown("asking");
    const outcome = await session?.request({ type: "device.invite" });
    if (outcome === undefined) return;
    setNow(Date.now());
    setShown(outcome.ok ? { link: outcome.answer, until: Date.now() + outcome.answer.ttl * 1000 } : { failure: outcome.message });
  };
  useEffect(() => {
    back.current?.focus();
    void ask();
    const ticking = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(ticking);
  }, []);
  useEffect(() => {
    if (paired !== before.current && paired?.invited_by === session?.deviceId) onEnd();
  }, [paired]);

  return (
    <div class="invitation">
      {shown === "asking" && <p class="dialog-state" role="status"><span class="spinner" /><span>{w.asking}</span></p>}
      {shown !== "asking" && "failure" in shown && (
        <p class="dialog-state" role="alert">
          <AlertIcon /><span>{shown.failure}</span>
          <button type="button" class="text-button" onClick={() => void ask()}>{common.tryAgain}</button>
        </p>
      )}
      {shown !== "asking" && "link" in shown && (shown.until > now ? <Link link={shown.link} left={remaining(shown.until - now)} /> : (
        <p class="dialog-state" role="status">
          <span>{w.tooOld}</span>
          <button type="button" class="text-button" onClick={() => void ask()}>{w.anotherLink}</button>
        </p>
      ))}
      <button ref={back} type="button" class="text-button" onClick={onEnd}>{w.back}</button>
    </div>
  );
}

function Link({ link, left }: { link: Invited; left: string }) {
  const { devices: w } = later.value;
  const isPlain = !link.local && link.url.startsWith("http:");
  return (
    <>
      {link.local ? <p class="invitation-words"><AlertIcon /><span>{w.onlyHere(<code>link_base</code>)}</span></p> : (
        <>
          <p class="invitation-words">{w.scan}</p>
          <img class="qr" src={`data:image/svg+xml,${encodeURIComponent(link.qr ?? "")}`} alt={w.qr} />
        </>
      )}
      <p class="invitation-link">
        <code>{link.url}</code>
        <CopyButton text={link.url} label={w.copyLink} />
      </p>
      <p class="faint invitation-words"><span>{link.local ? w.onThisMachine(left) : w.worksFor(left)}</span></p>
      {isPlain && <p class="invitation-words"><AlertIcon /><span>{w.noTls}</span></p>}
    </>
  );
}
