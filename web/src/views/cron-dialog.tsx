import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { snapshot } from "../app.ts";
import { askForJob, setTarget } from "../deeds.ts";
import { pathOf } from "../directory.ts";
import { appointment, sentence } from "../format.ts";
import { words } from "../language.ts";
import { laneKey, sameLane } from "../model.ts";
import type { Channel, CronJob, LaneAddress } from "../model.ts";
import { targeting } from "../ui.ts";
import { later } from "../words/later.ts";
import { SessionContext } from "./context.ts";
import { AlertIcon, CheckIcon, ClockIcon, CloseIcon } from "./icons.tsx";

type Jobs = readonly CronJob[] | "loading" | { readonly failure: string };

/** Picks the job that is to report to a lane. */
export default function CronDialog() {
  const entry = targeting.value;
  return entry === undefined ? null : <Opened key={laneKey(entry)} entry={entry} />;
}

function Opened({ entry }: { entry: Channel }) {
  const session = useContext(SessionContext);
  const dialog = useRef<HTMLDialogElement>(null);
  const [jobs, setJobs] = useState<Jobs>("loading");
  const [chosen, setChosen] = useState<string | undefined>();
  const [complaint, setComplaint] = useState("");

  const load = async (): Promise<void> => {
    setJobs("loading");
    const outcome = await session?.request({ type: "cron.list" });
    if (outcome !== undefined) setJobs(outcome.ok ? outcome.answer.jobs : { failure: outcome.message });
  };
  useEffect(() => {
    dialog.current?.showModal();
    void load();
  }, []);

  const close = (): void => dialog.current?.close();
  const pick = async (job: CronJob): Promise<void> => {
    if (session === undefined || chosen !== undefined) return;
    setChosen(job.id);
    setComplaint("");
    const objection = await setTarget(session, job, entry);
    setChosen(undefined);
    if (objection === undefined) close();
    else setComplaint(objection);
  };

  return (
    <dialog
      ref={dialog} class="dialog" aria-labelledby="cron-title" onClose={() => (targeting.value = undefined)}
      onClick={(event) => event.target === event.currentTarget && close()}
    >
      <div class="dialog-body">
        <header>
          <h2 id="cron-title">{later.value.cron.title(entry.name)}</h2>
          <button type="button" class="icon-button" aria-label={words.value.common.close} onClick={close}><CloseIcon /></button>
        </header>
        {complaint !== "" && <p class="complaint" role="alert"><AlertIcon /><span>{complaint}</span></p>}
        <JobList jobs={jobs} entry={entry} chosen={chosen} onPick={(job) => void pick(job)} onRetry={() => void load()} onAsk={close} />
      </div>
    </dialog>
  );
}

function JobList({ jobs, entry, chosen, onPick, onRetry, onAsk }: {
  jobs: Jobs; entry: Channel; chosen: string | undefined;
  onPick: (job: CronJob) => void; onRetry: () => void; onAsk: () => void;
}) {
  if (jobs === "loading") return <p class="dialog-state" role="status"><span class="spinner" /><span>{later.value.cron.loading}</span></p>;
  if ("failure" in jobs) {
    return (
      <p class="dialog-state" role="alert">
        <AlertIcon /><span>{jobs.failure}</span>
        <button type="button" class="text-button" onClick={onRetry}>{words.value.common.tryAgain}</button>
      </p>
    );
  }
  if (jobs.length === 0) return <NoJobs entry={entry} onAsk={onAsk} />;
  return (
    <ul class="jobs" aria-label={later.value.cron.jobs}>
      {jobs.map((job) => (
        <li key={job.id}>
          <JobButton job={job} entry={entry} busy={chosen === job.id} onPick={() => onPick(job)} />
        </li>
      ))}
    </ul>
  );
}

function JobButton({ job, entry, busy, onPick }: { job: CronJob; entry: Channel; busy: boolean; onPick: () => void }) {
  const target = job.chat_id === undefined ? undefined : (job as LaneAddress);
  const isHere = target !== undefined && sameLane(target, entry);
  const { cron } = later.value;
  return (
    <button type="button" class="job" disabled={isHere} aria-busy={busy} onClick={onPick}>
      <span class="job-name" title={job.name}>{job.name}</span>
      <span class="job-when">{job.schedule}</span>
      <span class="job-facts">
        <span>{isHere ? cron.here : target === undefined ? cron.nowhere : cron.to(pathOf(snapshot.value.state.directory, target))}</span>
        <span>{nextRun(job)}</span>
      </span>
      {job.error !== undefined && <span class="job-error"><AlertIcon /><span>{sentence(job.error)}</span></span>}
      {isHere && <CheckIcon />}
      {busy && <span class="spinner" />}
    </button>
  );
}

function nextRun(job: CronJob): string {
  const { cron } = later.value;
  if (!job.enabled) return cron.paused;
  return job.next_run === undefined ? cron.noNextRun : cron.nextRun(appointment(job.next_run, Date.now()));
}

function NoJobs({ entry, onAsk }: { entry: Channel; onAsk: () => void }) {
  const session = useContext(SessionContext);
  const { cron } = later.value;
  const example = cron.example(entry.name);
  const ask = (): void => {
    onAsk();
    if (session !== undefined) askForJob(session, example);
  };
  return (
    <div class="no-jobs">
      <ClockIcon />
      <p>{cron.none}</p>
      <blockquote>{example}</blockquote>
      <button type="button" class="primary" onClick={ask}>{cron.write}</button>
    </div>
  );
}
