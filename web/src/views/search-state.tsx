import { words } from "../language.ts";
import type { Findings } from "../search.ts";
import type { Scope } from "../ui.ts";
import { later } from "../words/later.ts";
import { AlertIcon } from "./icons.tsx";

interface Props {
  readonly findings: Findings;
  readonly query: string;
  readonly scope: Scope;
  readonly connected: boolean;
  readonly onRetry: () => void;
  readonly onWiden: () => void;
}

/** What there is to say about a search besides what it found. */
export function SearchState(props: Props) {
  const { findings, query, connected, onRetry } = props;
  const { search: w } = later.value;
  if (query === "") return <Tips />;
  if (!connected) {
    return <p class="dialog-state" role="status"><span class="dot away" /><span>{w.offline}</span></p>;
  }
  switch (findings.state) {
    case "idle": return null;
    case "searching":
      return findings.hits.length > 0 ? null : <p class="dialog-state" role="status"><span class="spinner" /><span>{w.searching}</span></p>;
    case "failed":
      return <Failure message={findings.failure} onRetry={onRetry} />;
    case "found":
      if (findings.hits.length === 0) return <NoHits {...props} />;
      if (findings.more === "failed") return <Failure message={findings.failure} onRetry={onRetry} />;
      if (findings.more === "loading") return <p class="search-more" role="status"><span class="spinner" /><span>{w.loadingMore}</span></p>;
      return <p class="off-screen" role="status">{findings.cursor === undefined ? w.found(findings.hits.length) : w.foundMore(findings.hits.length)}</p>;
  }
}

function Failure({ message, onRetry }: { message: string; onRetry: () => void }) {
  return (
    <p class="dialog-state" role="alert">
      <AlertIcon /><span>{message}</span>
      <button type="button" class="text-button" onClick={onRetry}>{words.value.common.tryAgain}</button>
    </p>
  );
}

function NoHits({ query, scope, onWiden }: Props) {
  const { search: w } = later.value;
  return (
    <div class="dialog-state no-hits" role="status">
      <p>{w.nothing(<b>{query}</b>)}</p>
      {scope === "all" ? <p class="faint">{w.fewerWords}</p>
        : <button type="button" class="text-button" onClick={onWiden}>{w.widen}</button>}
    </div>
  );
}

function Tips() {
  return (
    <dl class="search-tips">
      {later.value.search.tips.map(([example, meaning]) => <div key={example}><dt><code>{example}</code></dt><dd>{meaning}</dd></div>)}
    </dl>
  );
}
