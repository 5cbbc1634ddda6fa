import { discard, retry } from "../attachments.ts";
import type { Chosen } from "../attachments.ts";
import { words } from "../language.ts";
import { fileSize } from "../media.ts";
import type { LaneAddress } from "../model.ts";
import { AlertIcon, CloseIcon } from "./icons.tsx";
import { FileIcon } from "./media-icons.tsx";
import { Sound } from "./sound.tsx";

/** What will be sent along, above the text. */
export function AttachmentTray({ address, files }: { address: LaneAddress; files: readonly Chosen[] }) {
  if (files.length === 0) return null;
  return (
    <ul class="tray" aria-label={words.value.files.toSend}>
      {files.map((each) => <Chip key={each.id} address={address} chosen={each} />)}
    </ul>
  );
}

function Chip({ address, chosen }: { address: LaneAddress; chosen: Chosen }) {
  const { file, state, error } = chosen;
  const { common, files } = words.value;
  const name = chosen.note === undefined ? file.name : common.voiceMessage;
  return (
    <li class={`chip-file ${state} ${isPicture(chosen) ? "is-picture" : ""}`}>
      <Face chosen={chosen} />
      {state === "failed" && (
        <span class="chip-failed" role="alert" title={error}>
          <AlertIcon /><span>{error}</span>
          <button type="button" class="text-button" aria-label={files.sendAgain(name)} onClick={() => retry(address, chosen.id)}>{common.retry}</button>
        </span>
      )}
      {(state === "sending" || state === "waiting") && (
        <progress max={1} value={state === "sending" ? chosen.part : 0} aria-label={files.sending(name)} />
      )}
      <button
        type="button" class="chip-remove" aria-label={state === "sending" ? files.cancel(name) : files.remove(name)}
        title={state === "sending" ? common.cancel : files.removeShort} onClick={() => discard(address, chosen.id)}
      >
        <CloseIcon />
      </button>
    </li>
  );
}

function Face({ chosen }: { chosen: Chosen }) {
  const { file, note, preview } = chosen;
  if (isPicture(chosen)) return <img src={preview} alt={file.name} title={file.name} />;
  if (note !== undefined) return <Sound src={preview} name={words.value.common.voiceMessage} duration={note} />;
  return (
    <span class="chip-words">
      <span class="document-icon"><FileIcon /></span>
      <span class="document-words"><b title={file.name}>{file.name}</b><span>{fileSize(file.size)}</span></span>
    </span>
  );
}

function isPicture({ file, preview }: Chosen): boolean {
  return preview !== undefined && file.type.startsWith("image/");
}
