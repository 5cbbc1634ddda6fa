import { useLayoutEffect, useRef } from "preact/hooks";
import { highlight, highlighted } from "../highlight.ts";
import { words } from "../language.ts";
import { morph, write } from "../morph.ts";
import { CopyButton } from "./copy-button.tsx";

interface Props {
  readonly text: string;
  readonly language: string;
  /** Whether the text may still grow; only what is complete is coloured. */
  readonly closed: boolean;
  readonly label?: string;
}

export function CodeBlock({ text, language, closed, label }: Props) {
  return (
    <div class="code" data-anchor>
      <div class="code-head">
        <span>{label ?? (language || words.value.copy.plainText)}</span>
        <CopyButton text={text} label={words.value.copy.copyCode} />
      </div>
      <pre tabIndex={0} role="group" aria-label={words.value.copy.code}><ColouredCode text={text} language={language} closed={closed} /></pre>
    </div>
  );
}

function ColouredCode({ text, language, closed }: Omit<Props, "label">) {
  const place = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (place.current === null) return undefined;
    const known = closed ? highlighted(text, language) : undefined;
    if (known === undefined) write(place.current, text);
    else morph(place.current, known);
    if (!closed || known !== undefined) return undefined;
    let wanted = true;
    void highlight(text, language).then((coloured) => {
      if (wanted && coloured !== undefined && place.current !== null) morph(place.current, coloured);
    });
    return () => {
      wanted = false;
    };
  }, [text, language, closed]);
  return <code ref={place} />;
}
