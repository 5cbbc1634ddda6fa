import { useEffect, useState } from "preact/hooks";
import { highlight, highlighted } from "../highlight.ts";
import { words } from "../language.ts";
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
  const [coloured, setColoured] = useState<{ text: string; html: string } | undefined>(() => {
    const html = closed ? highlighted(text, language) : undefined;
    return html === undefined ? undefined : { text, html };
  });
  useEffect(() => {
    if (!closed || coloured?.text === text) return undefined;
    let wanted = true;
    void highlight(text, language).then((html) => {
      if (wanted && html !== undefined) setColoured({ text, html });
    });
    return () => {
      wanted = false;
    };
  }, [text, language, closed]);
  if (coloured?.text === text) return <code key="coloured" dangerouslySetInnerHTML={{ __html: coloured.html }} />;
  return <code key="plain">{text}</code>;
}
