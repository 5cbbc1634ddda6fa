import type { ComponentChildren } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { snapshot } from "../app.ts";
import { channelsInOrder } from "../directory.ts";
import { language } from "../language.ts";
import type { Channel } from "../model.ts";
import { DEFAULTS, look, subscribe, turnOff, turnOn } from "../notifications.ts";
import type { Standing } from "../notifications.ts";
import type { PushPreferences } from "../protocol/frames.ts";
import type { Session } from "../session.ts";
import { later } from "../words/later.ts";
import { SessionContext } from "./context.ts";

const KINDS = ["finals", "requests", "reports"] as const;

/** Whether, and for what, this browser is called. The permission is asked for by a press and by nothing else. */
export function NotificationSettings() {
  const session = useContext(SessionContext);
  const [standing, setStanding] = useState<Standing | undefined>();
  const [busy, setBusy] = useState(false);
  const begun = useRef(0);
  const isOpen = snapshot.value.link.kind === "open";
  const become = async (work: (session: Session) => Promise<Standing>): Promise<void> => {
    if (session === undefined) return;
    const number = ++begun.current;
    setBusy(true);
    const now = await work(session);
    // Whoever presses again meanwhile waits for that.
    if (number !== begun.current) return;
    setStanding(now);
    setBusy(false);
  };
  useEffect(() => void become(look), [isOpen]);

  const told = later.value.notifications;
  const change = (preferences: PushPreferences): void => {
    setStanding({ kind: "on", preferences });
    void become((session) => subscribe(session, preferences));
  };
  return (
    <fieldset class="setting" aria-describedby="about-notifications" aria-busy={busy}>
      <legend>{told.title}</legend>
      <p id="about-notifications" class="settings-hint faint">{told.about}</p>
      {standing === undefined ? <p class="settings-state faint">{told.busy}</p>
        : standing.kind === "off" ? (
          <button type="button" class="decision" disabled={busy} onClick={() => void become((session) => turnOn(session, { ...DEFAULTS, language: language.value }))}>{told.turnOn}</button>
        ) : standing.kind === "on" ? (
          <>
            <button type="button" class="decision" disabled={busy} onClick={() => void become(turnOff)}>{told.turnOff}</button>
            <Wishes preferences={standing.preferences} channels={channelsInOrder(snapshot.value.state.directory)} onChange={change} />
          </>
        ) : <p class="settings-state" role="status">{sayingOf(standing)}</p>}
    </fieldset>
  );
}

function sayingOf(standing: Exclude<Standing, { kind: "on" | "off" }>): string {
  const told = later.value.notifications;
  switch (standing.kind) {
    case "impossible":
      return told.impossible[standing.why];
    case "unavailable":
      return told.unavailable(standing.message);
    case "offline":
      return standing.message;
    case "failed":
      return told.failed;
    case "blocked":
      return told.blocked;
  }
}

function Wishes({ preferences, channels, onChange }: {
  preferences: PushPreferences; channels: readonly Channel[]; onChange: (preferences: PushPreferences) => void;
}) {
  const told = later.value.notifications;
  const { muted = [], details = false } = preferences;
  const hear = (chatId: string, on: boolean): void => {
    onChange({ ...preferences, muted: on ? muted.filter((each) => each !== chatId) : [...muted, chatId] });
  };
  // Rooms call nobody.
  const calling = channels.filter(({ kind }) => kind !== "room");
  return (
    <>
      <Checks title={told.what}>
        {KINDS.map((kind) => (
          <Check key={kind} label={told[kind]} on={preferences[kind] ?? true} onChange={(on) => onChange({ ...preferences, [kind]: on })} />
        ))}
      </Checks>
      {calling.length > 1 && (
        <Checks title={told.channels}>
          {calling.map(({ chat_id, name }) => <Check key={chat_id} label={name} on={!muted.includes(chat_id)} onChange={(on) => hear(chat_id, on)} />)}
        </Checks>
      )}
      <div class="checks">
        <Check label={told.details} on={details} onChange={(on) => onChange({ ...preferences, details: on })} about="about-details" />
      </div>
      <p id="about-details" class="settings-hint faint">{told.detailsHint}</p>
    </>
  );
}

function Checks({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="checks" role="group" aria-label={title}>
      <span class="checks-title faint" aria-hidden="true">{title}</span>
      {children}
    </div>
  );
}

function Check({ label, on, onChange, about }: { label: string; on: boolean; onChange: (on: boolean) => void; about?: string }) {
  return (
    <label class="pick">
      <input type="checkbox" checked={on} aria-describedby={about} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}
