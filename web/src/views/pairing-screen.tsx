import { useState } from "preact/hooks";
import { pairWith } from "../app.ts";
import { words } from "../language.ts";
import { AlertIcon } from "./icons.tsx";

export function PairingScreen({ busy, message }: { busy: boolean; message: string }) {
  const [code, setCode] = useState("");
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (code.trim() !== "" && !busy) void pairWith(code);
  };
  const { pairing: w } = words.value;
  return (
    <main class="pairing">
      <div class="pairing-card">
        <img class="pairing-mark" src="/iris.svg" alt="" width="64" height="64" />
        <h1>{w.title}</h1>
        <p>{w.first}</p>
        <pre class="pairing-command" tabIndex={0}><code>iris pair</code></pre>
        <p>{w.then}</p>
        <form onSubmit={submit}>
          <label for="pairing-code">{w.code}</label>
          <div class="pairing-entry">
            <input
              id="pairing-code" name="code" value={code} autocomplete="off" autocapitalize="off" spellcheck={false}
              autofocus aria-describedby="pairing-message" aria-invalid={message !== ""}
              onInput={(event) => setCode(event.currentTarget.value)}
            />
            <button type="submit" class="primary" disabled={busy || code.trim() === ""}>{busy ? w.busy : w.pair}</button>
          </div>
          <p id="pairing-message" class="pairing-message" role="alert">
            {message !== "" && <><AlertIcon /><span>{message}</span></>}
          </p>
        </form>
      </div>
    </main>
  );
}
