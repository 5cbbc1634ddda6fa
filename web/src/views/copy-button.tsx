import { useEffect, useState } from "preact/hooks";
import { copyText } from "../clipboard.ts";
import { words } from "../language.ts";
import { CheckIcon, CopyIcon } from "./icons.tsx";

const SHOWN_FOR = 1600;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [outcome, setOutcome] = useState<"copied" | "failed" | undefined>();
  useEffect(() => {
    if (outcome === undefined) return undefined;
    const timer = setTimeout(() => setOutcome(undefined), SHOWN_FOR);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => setOutcome((await copyText(text)) ? "copied" : "failed");
  const { copy: w } = words.value;
  return (
    <button type="button" class="copy" aria-label={label} title={label} onClick={copy}>
      {outcome === "copied" ? <CheckIcon /> : <CopyIcon />}
      <span>{outcome === undefined ? w.copy : outcome === "copied" ? w.copied : w.failed}</span>
    </button>
  );
}
