import { useEffect, useRef } from "preact/hooks";
import { words } from "../language.ts";
import { settings } from "../settings.ts";
import { keysOf, SHORTCUTS } from "../shortcuts.ts";
import type { Group, Shortcut } from "../shortcuts.ts";
import "../styles/help.css";
import { showingHelp } from "../ui.ts";
import { later } from "../words/later.ts";
import { CloseIcon } from "./icons.tsx";

const GROUPS = Object.entries(SHORTCUTS).map(([group, keys]) => [group as Group, Object.keys(keys) as Shortcut[]] as const);
const IS_MAC = /mac|iphone|ipad/i.test(navigator.userAgent);

/** All keys of the app. */
export default function HelpDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = (): void => dialog.current?.close();
  const { common } = words.value;
  const { keys: w } = later.value;
  return (
    <dialog
      ref={dialog} class="dialog" aria-labelledby="help-title" onClose={() => (showingHelp.value = false)}
      onClick={(event) => event.target === event.currentTarget && close()}
    >
      <div class="dialog-body">
        <header>
          <h2 id="help-title">{w.title}</h2>
          <button type="button" class="icon-button" aria-label={common.close} title={common.closeKey} onClick={close}><CloseIcon /></button>
        </header>
        {GROUPS.map(([group, shortcuts]) => (
          <section key={group} class="keys">
            <h3>{w.groups[group]}</h3>
            <dl>
              {shortcuts.map((shortcut) => (
                <div key={shortcut}>
                  <dt>{w.names[shortcut]}</dt>
                  <dd>
                    {keysOf(shortcut, settings.value.enter, IS_MAC).map((chord) => (
                      <span key={chord.join("+")} class="chord">{chord.map((key) => <kbd key={key}>{key}</kbd>)}</span>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </dialog>
  );
}
