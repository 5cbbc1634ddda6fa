import { useEffect, useRef } from "preact/hooks";
import { words } from "../language.ts";
import { CHOICES, changeSettings, settings } from "../settings.ts";
import type { Settings } from "../settings.ts";
import "../styles/settings.css";
import { showingSettings } from "../ui.ts";
import type { Later } from "../words/en/later.ts";
import { later } from "../words/later.ts";
import { CloseIcon } from "./icons.tsx";
import { NotificationSettings } from "./notification-settings.tsx";

const NAMES = Object.keys(CHOICES) as (keyof Settings)[];
type Shown = Omit<Later["settings"][keyof Settings], "choices"> & { readonly choices: Readonly<Record<string, string>> };

/** How this browser shows things. Each choice acts at once. */
export default function SettingsDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = (): void => dialog.current?.close();
  return (
    <dialog
      ref={dialog} class="dialog" aria-labelledby="settings-title" onClose={() => (showingSettings.value = false)}
      onClick={(event) => event.target === event.currentTarget && close()}
    >
      <div class="dialog-body">
        <header>
          <h2 id="settings-title">{words.value.common.settings}</h2>
          <button type="button" class="icon-button" aria-label={words.value.common.close} onClick={close}><CloseIcon /></button>
        </header>
        {NAMES.map((name) => <Choice key={name} name={name} />)}
        <p class="settings-hint faint">{later.value.settingsHint}</p>
        <NotificationSettings />
      </div>
    </dialog>
  );
}

function Choice({ name }: { name: keyof Settings }) {
  const { title, hint, choices }: Shown = later.value.settings[name];
  return (
    <fieldset class="setting" aria-describedby={hint === undefined ? undefined : `about-${name}`}>
      <legend>{title}</legend>
      <div class="choices">
        {Object.entries(choices).map(([value, label]) => (
          <label key={value}>
            <input type="radio" name={name} checked={settings.value[name] === value} onChange={() => changeSettings({ [name]: value })} />
            <span>{label}</span>
          </label>
        ))}
      </div>
      {hint !== undefined && <p id={`about-${name}`} class="settings-hint faint">{hint}</p>}
    </fieldset>
  );
}
