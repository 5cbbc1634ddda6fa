import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { words } from "../language.ts";
import { showToast } from "../ui.ts";

interface Props {
  readonly onFailure: () => void;
}

/** A part of the app that is fetched when somebody wants it, or a little sooner. */
export function late(load: () => Promise<{ readonly default: FunctionComponent }>) {
  const part = signal<FunctionComponent | undefined>(undefined);
  const bring = async (): Promise<void> => {
    part.value ??= (await load()).default;
  };
  function Late({ onFailure }: Props) {
    const Part = part.value;
    useEffect(() => {
      bring().catch(() => {
        showToast(words.value.app.partMissing, { tone: "bad" });
        onFailure();
      });
    }, []);
    return Part === undefined ? null : <Part />;
  }
  return Object.assign(Late, { prefetch: () => void bring().catch(() => undefined) });
}
