import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { snapshot } from "../app.ts";
import { clock } from "../format.ts";
import { words } from "../language.ts";
import type { Device } from "../model.ts";
import "../styles/devices.css";
import { deviceCount, showingDevices } from "../ui.ts";
import { later } from "../words/later.ts";
import { SessionContext } from "./context.ts";
import { Dialog } from "./dialog.tsx";
import { AlertIcon, PencilIcon, PlusIcon } from "./icons.tsx";
import { Invitation } from "./invitation.tsx";
import { NameField } from "./name-field.tsx";

type Shown = readonly Device[] | "loading" | { readonly failure: string };

/** Milliseconds after which an open list is asked for again: devices come and go meanwhile. */
const REFRESH = 3000;

/** Who may talk to this gateway. */
export default function DevicesDialog() {
  const session = useContext(SessionContext);
  const [shown, setShown] = useState<Shown>("loading");
  const [naming, setNaming] = useState<string | undefined>();
  const [asked, setAsked] = useState<string | undefined>();
  const [busy, setBusy] = useState(false);
  const [complaint, setComplaint] = useState("");
  const [inviting, setInviting] = useState(false);
  const invite = useRef<HTMLButtonElement>(null);
  const { paired } = snapshot.value.state;
  const before = useRef(paired);

  const load = async (): Promise<void> => {
    const outcome = await session?.request({ type: "device.list" });
    if (outcome === undefined) return;
    setShown(outcome.ok ? outcome.answer.devices : { failure: outcome.message });
    if (outcome.ok) deviceCount.value = outcome.answer.devices.length;
  };
  useEffect(() => {
    void load();
    const refreshing = setInterval(() => void load(), REFRESH);
    return () => clearInterval(refreshing);
  }, [paired]);
  const invited = useRef(false);
  useEffect(() => {
    if (invited.current && !inviting) invite.current?.focus();
    invited.current = inviting;
  }, [inviting]);
  const rename = async (device: Device, name: string): Promise<string | undefined> => {
    const outcome = await session?.request({ type: "device.rename", device_id: device.id, name });
    if (outcome?.ok) await load();
    return outcome === undefined || outcome.ok ? undefined : outcome.message;
  };
  const revoke = async (device: Device): Promise<void> => {
    if (session === undefined || busy) return;
    setBusy(true);
    setComplaint("");
    const outcome = await session.request({ type: "device.revoke", device_id: device.id });
    setBusy(false);
    setAsked(undefined);
    if (outcome.ok) await load();
    else setComplaint(outcome.message);
  };

  const { common } = words.value;
  const { devices: w } = later.value;
  return (
    <Dialog id="devices-title" title={inviting ? w.invite : w.title} onClose={() => (showingDevices.value = false)}>
      {inviting && <Invitation onEnd={() => setInviting(false)} />}
      <div hidden={inviting}>
        <div role="status">{paired !== undefined && paired !== before.current && <p class="newcomer">{words.value.app.paired(paired.device.name)}</p>}</div>
        {complaint !== "" && <p class="complaint" role="alert"><AlertIcon /><span>{complaint}</span></p>}
        {shown === "loading" && <p class="dialog-state" role="status"><span class="spinner" /><span>{w.loading}</span></p>}
        {shown !== "loading" && "failure" in shown && (
          <p class="dialog-state" role="alert">
            <AlertIcon /><span>{shown.failure}</span>
            <button type="button" class="text-button" onClick={() => void load()}>{common.tryAgain}</button>
          </p>
        )}
        {Array.isArray(shown) && (
          <ul class="devices" aria-label={w.paired}>
            {(shown as readonly Device[]).map((device) => (
              <li key={device.id} class="device">
                <span class={`dot ${device.connected ? "good" : ""}`} />
                <div class="device-words">
                  {naming === device.id ? (
                    <NameField
                      label={w.nameOf(device.name)} initial={device.name}
                      submit={(name) => rename(device, name)} onClose={() => setNaming(undefined)}
                    />
                  ) : (
                    <div class="device-name">{device.name}{device.this && <span class="tag">{w.this}</span>}</div>
                  )}
                  <div class="faint">{w.kinds[device.kind]} · {lastSeen(device)}</div>
                </div>
                {naming !== device.id && asked !== device.id && (
                  <button type="button" class="icon-button" aria-label={w.rename(device.name)} title={common.rename} onClick={() => setNaming(device.id)}><PencilIcon /></button>
                )}
                {asked === device.id ? (
                  <Confirm device={device} busy={busy} onKeep={() => setAsked(undefined)} onRevoke={() => void revoke(device)} />
                ) : (
                  <button type="button" class="text-button" aria-label={w.revoke(device.name)} onClick={() => setAsked(device.id)}>{common.revoke}</button>
                )}
              </li>
            ))}
          </ul>
        )}
        <button ref={invite} type="button" class="invite" onClick={() => setInviting(true)}><PlusIcon /><span>{w.invite}</span></button>
      </div>
    </Dialog>
  );
}

function Confirm({ device, busy, onKeep, onRevoke }: { device: Device; busy: boolean; onKeep: () => void; onRevoke: () => void }) {
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  const { common } = words.value;
  const { devices: w } = later.value;
  return (
    <div class="confirm" role="group" aria-label={w.revokeAsked(device.name)}>
      <span>{device.this ? w.thisPairsAgain : w.shutOut}</span>
      <button ref={keep} type="button" class="text-button" onClick={onKeep}>{w.keep}</button>
      <button type="button" class="text-button dangerous" aria-busy={busy} onClick={onRevoke}>{common.revoke}</button>
    </div>
  );
}

function lastSeen(device: Device): string {
  const { devices: w } = later.value;
  if (device.connected) return w.connected;
  return device.last_seen === undefined ? w.neverSeen : w.lastSeen(clock(device.last_seen, Date.now()));
}
