import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isComposingKey } from "../composer.ts";
import { words } from "../language.ts";
import { CloseIcon } from "./icons.tsx";

const MOST_CHARACTERS = 80;

interface Props {
  readonly label: string;
  readonly initial?: string;
  readonly placeholder?: string;
  readonly mayBeEmpty?: boolean;
  /** Gives what went wrong; the field stays open with it. */
  readonly submit: (name: string) => Promise<string | undefined>;
  readonly onClose: () => void;
}

/** A name, typed where it will stand. Enter keeps it, Escape does not. */
export function NameField({ label, initial = "", placeholder = label, mayBeEmpty = false, submit, onClose }: Props) {
  const [name, setName] = useState(initial);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const errorId = useId();

  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);

  const keep = async (): Promise<void> => {
    const trimmed = name.trim();
    if (busy) return;
    if (trimmed === "" && !mayBeEmpty) return setError(words.value.lanes.nameNeeded);
    setBusy(true);
    const objection = await submit(trimmed);
    // The field may be gone by now, and another one in its place.
    if (field.current === null) return;
    setBusy(false);
    if (objection === undefined) return onClose();
    setError(objection);
    field.current?.focus();
  };
  const pressed = (event: KeyboardEvent): void => {
    if (isComposingKey(event)) return;
    if (event.key === "Enter") void keep();
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="name-field">
      <input
        ref={field} value={name} aria-label={label} placeholder={placeholder} maxLength={MOST_CHARACTERS} readOnly={busy}
        aria-invalid={error !== ""} aria-describedby={errorId} autocomplete="off" enterkeyhint="done"
        onInput={(event) => {
          setName(event.currentTarget.value);
          setError("");
        }}
        onKeyDown={pressed}
        onBlur={() => {
          if (name === initial && !busy) onClose();
        }}
      />
      <button type="button" aria-label={words.value.common.cancel} title={words.value.common.cancelKey} onClick={onClose}><CloseIcon /></button>
      <p id={errorId} class="name-error" role="alert">{error}</p>
    </div>
  );
}
