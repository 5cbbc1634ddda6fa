import { useContext, useEffect, useState } from "preact/hooks";
import { words } from "../language.ts";
import { admitted, addressOfDownload, addressOfFile, askAdmission, fileSize, isReadable, parted, suffixOf, textOf, visits } from "../media.ts";
import type { Attachment } from "../model.ts";
import { view } from "../viewing.ts";
import { CodeBlock } from "./code-block.tsx";
import { LaneContext, SessionContext } from "./context.ts";
import { AlertIcon, ChevronIcon } from "./icons.tsx";
import { DownloadIcon, FileIcon } from "./media-icons.tsx";
import { Sound } from "./sound.tsx";

/** The files of a message. */
export function Attachments({ files }: { files: readonly Attachment[] }) {
  const { pictures, others } = parted(files);
  return (
    <div class="attachments">
      {pictures.length > 0 && (
        <div class={`pictures ${pictures.length === 1 ? "single" : ""}`}>
          {pictures.map((file) => <Picture key={file.id} file={file} />)}
        </div>
      )}
      {others.map((file) => <Other key={file.id} file={file} />)}
    </div>
  );
}

function Other({ file }: { file: Attachment }) {
  if (file.kind === "video") return <Film file={file} />;
  if (file.kind === "audio" || file.kind === "voice") return <SoundCard file={file} />;
  return <DocumentCard file={file} />;
}

/** What a browser could not load is asked for once more, with a fresh cookie. */
function useSource(file: Attachment): { src: string | undefined; failed: boolean; onError: () => void } {
  const [tries, setTries] = useState(0);
  useEffect(() => setTries(0), [visits.value]);
  const src = admitted.value ? `${addressOfFile(file.id)}${tries > 0 ? "?again" : ""}` : undefined;
  const onError = (): void => {
    if (tries > 0) return setTries(2);
    void askAdmission().then(() => setTries(1));
  };
  return { src, failed: tries > 1, onError };
}

function Picture({ file }: { file: Attachment }) {
  const session = useContext(SessionContext);
  const address = useContext(LaneContext);
  const { src, failed, onError } = useSource(file);
  if (failed) return <Gone file={file} />;
  const open = (): void => {
    if (session !== undefined) view(session.current, address, file);
  };
  const { width, height } = file;
  const known = width !== undefined && height !== undefined;
  return (
    <button type="button" class={`picture ${known ? "" : "unsized"}`} aria-label={words.value.files.open(file.name)} title={file.name} onClick={open}>
      <img src={src} alt={file.name} width={width} height={height} loading="lazy" decoding="async" onError={onError} />
    </button>
  );
}

function Film({ file }: { file: Attachment }) {
  const { src, failed, onError } = useSource(file);
  if (failed) return <Gone file={file} />;
  return (
    <figure class="film">
      <video src={src} controls playsInline preload="metadata" aria-label={file.name} onError={onError} />
      <figcaption><span>{file.name}</span><Download file={file} /></figcaption>
    </figure>
  );
}

function SoundCard({ file }: { file: Attachment }) {
  const { src, failed, onError } = useSource(file);
  if (failed) return <Gone file={file} />;
  return (
    <div class="sound-card">
      {file.kind === "audio" && <div class="sound-name"><span>{file.name}</span><Download file={file} /></div>}
      <Sound src={src} name={file.kind === "voice" ? words.value.common.voiceMessage : file.name} duration={file.duration} onError={onError} />
    </div>
  );
}

function DocumentCard({ file }: { file: Attachment }) {
  const [shown, setShown] = useState<"closed" | "loading" | { readonly text: string } | { readonly failure: string }>("closed");
  const isOpen = shown !== "closed";
  const { common, files } = words.value;
  const toggle = (): void => {
    if (isOpen) return setShown("closed");
    setShown("loading");
    textOf(file).then((text) => setShown({ text }), (error: Error) => setShown({ failure: error.message }));
  };
  return (
    <div class="document">
      <div class="document-head">
        <span class="document-icon"><FileIcon /></span>
        <span class="document-words"><b title={file.name}>{file.name}</b><span>{facts(file)}</span></span>
        {isReadable(file) && (
          <button type="button" class="icon-button" aria-expanded={isOpen} aria-label={files.preview(file.name)} title={files.previewShort} onClick={toggle}>
            <ChevronIcon />
          </button>
        )}
        <Download file={file} />
      </div>
      {shown === "loading" && <p class="document-state" role="status"><span class="spinner" /><span>{common.loading}</span></p>}
      {isOpen && shown !== "loading" && "failure" in shown && <p class="document-state" role="alert"><AlertIcon /><span>{shown.failure}</span></p>}
      {isOpen && shown !== "loading" && "text" in shown && <CodeBlock text={shown.text} language={suffixOf(file.name).toLowerCase()} closed />}
    </div>
  );
}

function Download({ file }: { file: Attachment }) {
  return (
    <a class="icon-button" href={addressOfDownload(file.id)} download={file.name} aria-label={words.value.files.download(file.name)} title={words.value.files.downloadSize(fileSize(file.size))}>
      <DownloadIcon />
    </a>
  );
}

function Gone({ file }: { file: Attachment }) {
  return <p class="gone" role="note"><AlertIcon /><span>{words.value.files.lost(<b>{file.name}</b>)}</span></p>;
}

function facts(file: Attachment): string {
  return [suffixOf(file.name), fileSize(file.size)].filter((fact) => fact !== "").join(" · ");
}
