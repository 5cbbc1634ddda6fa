import { useContext, useState } from "preact/hooks";
import { restore } from "../deeds.ts";
import { words } from "../language.ts";
import type { Channel, LaneAddress } from "../model.ts";
import { SessionContext } from "./context.ts";
import { AlertIcon, TrashIcon } from "./icons.tsx";

/** Stands where one would write, in a lane that is only read any more. */
export function Deleted({ address, channel }: { address: LaneAddress; channel: Channel | undefined }) {
  const session = useContext(SessionContext);
  const [busy, setBusy] = useState(false);
  const [complaint, setComplaint] = useState("");
  const bringBack = async (): Promise<void> => {
    if (session === undefined || busy) return;
    setBusy(true);
    setComplaint("");
    setComplaint((await restore(session, address)) ?? "");
    setBusy(false);
  };
  const { lanes: w } = words.value;
  return (
    <div class="composer">
      {complaint !== "" && <p class="complaint" role="alert"><AlertIcon /><span>{complaint}</span></p>}
      <div class="read-only" role="note">
        <TrashIcon /><span>{channel?.archived ? w.channelDeleted : w.topicDeleted}</span>
        <button type="button" class="text-button" aria-busy={busy} onClick={() => void bringBack()}>{w.restore}</button>
      </div>
    </div>
  );
}
