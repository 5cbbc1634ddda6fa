import type { ComponentChildren } from "preact";
import { snapshot } from "../app.ts";
import { isSplit } from "../directory.ts";
import { writeDraft } from "../drafts.ts";
import { words } from "../language.ts";
import { addressOf, DEFAULT_LANE } from "../model.ts";
import type { Channel } from "../model.ts";
import { callComposer, targeting } from "../ui.ts";
import { FirstSteps } from "./guide.tsx";

export function EmptyLane({ entry }: { entry: Channel | undefined }) {
  const { empty: w } = words.value;
  if (entry === undefined || entry.is_default) return <EmptyHome entry={entry} />;
  if (entry.kind === "room") {
    return (
      <Empty title={entry.name}>
        <p>{w.room}</p>
      </Empty>
    );
  }
  if (entry.automation) {
    return (
      <Empty title={w.automation}>
        <p>{w.automationText(entry.name)}</p>
        <TargetButton entry={entry} />
      </Empty>
    );
  }
  if (entry.thread_id !== undefined) {
    return (
      <Empty title={entry.name}>
        <p>{w.topic}</p>
      </Empty>
    );
  }
  return (
    <Empty title={entry.name}>
      <p>{w.channel}</p>
      <TargetButton entry={entry} />
    </Empty>
  );
}

function EmptyHome({ entry }: { entry: Channel | undefined }) {
  const { server } = snapshot.value.state;
  const { empty: w } = words.value;
  const write = (text: string): void => {
    writeDraft(addressOf(entry ?? DEFAULT_LANE), { text });
    callComposer();
  };
  return (
    <Empty title={w.home}>
      <p>
        {server?.rehearsal ? w.rehearsal : w.homeText}
        {isSplit(entry) && w.homeSplit}
      </p>
      {server?.rehearsal ? <FirstSteps /> : (
        <ul aria-label={w.suggestions}>
          {w.toWrite.map((text) => (
            <li key={text}><button type="button" class="suggestion" onClick={() => write(text)}>{text}</button></li>
          ))}
        </ul>
      )}
    </Empty>
  );
}

function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty-lane">
      <img src="/iris.svg" alt="" width="72" height="72" />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

function TargetButton({ entry }: { entry: Channel }) {
  return <button type="button" class="suggestion" onClick={() => (targeting.value = entry)}>{words.value.empty.target}</button>;
}
