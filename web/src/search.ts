/**
 * A search as it is typed.
 *
 * It waits for a pause, asks once, and takes only the answer to what was asked last: an older one that comes in late
 * says nothing about what stands in the field now.
 */
import type { Hit, LaneAddress } from "./model.ts";
import type { Search } from "./protocol/frames.ts";
import type { Outcome } from "./requests.ts";

export const SEARCH_PAUSE = 150;
const PAGE = 25;

export type Order = NonNullable<Search["order"]>;
/** What is looked for, and where. */
export type Wish = Pick<Search, "query" | "scope" | "chat_id" | "thread_id" | "order">;

export interface Findings {
  /** Of what is shown: `hits` stay until those of the next answer are here. */
  readonly state: "idle" | "searching" | "found" | "failed";
  readonly hits: readonly Hit[];
  readonly cursor: string | undefined;
  readonly more: "idle" | "loading" | "failed";
  readonly failure: string;
}

export const NOTHING: Findings = { state: "idle", hits: [], cursor: undefined, more: "idle", failure: "" };

type Ask = (request: Wish & { readonly type: "search"; readonly cursor?: string; readonly limit: number }) => Promise<Outcome<"search">>;

export class Finder {
  private readonly after: (delay: number, work: () => void) => () => void;
  private readonly ask: Ask;
  private readonly publish: (findings: Findings) => void;
  private findings = NOTHING;
  private wish: Wish | undefined;
  /** Counts the wishes, so that an answer knows whether it is still wanted. */
  private turn = 0;
  private cancel: () => void = () => undefined;

  constructor(after: Finder["after"], ask: Ask, publish: (findings: Findings) => void) {
    this.after = after;
    this.ask = ask;
    this.publish = publish;
  }

  look(wish: Wish): void {
    const query = wish.query.trim();
    this.wish = { ...wish, query };
    this.turn++;
    this.cancel();
    if (query === "") return this.become(NOTHING);
    this.become({ ...this.findings, state: "searching", more: "idle", failure: "" });
    this.cancel = this.after(SEARCH_PAUSE, () => void this.begin());
  }

  /** The same once more, at once: something was in the way. */
  retry(): void {
    if (this.wish !== undefined && this.findings.state === "failed") void this.begin();
    else if (this.findings.more === "failed") void this.go();
  }

  /** Fetches the next page, if there is one. */
  more(): void {
    if (this.findings.state === "found" && this.findings.more === "idle") void this.go();
  }

  stop(): void {
    this.turn++;
    this.cancel();
  }

  private async begin(): Promise<void> {
    const { wish, turn } = this;
    if (wish === undefined) return;
    this.become({ ...this.findings, state: "searching", failure: "" });
    const outcome = await this.ask({ type: "search", ...wish, limit: PAGE });
    if (turn !== this.turn) return;
    if (outcome.ok) this.become({ ...NOTHING, state: "found", hits: outcome.answer.hits, cursor: outcome.answer.cursor });
    else this.become({ ...NOTHING, state: "failed", failure: outcome.message });
  }

  private async go(): Promise<void> {
    const { wish, turn, findings: { cursor } } = this;
    if (wish === undefined || cursor === undefined) return;
    this.become({ ...this.findings, more: "loading" });
    const outcome = await this.ask({ type: "search", ...wish, cursor, limit: PAGE });
    if (turn !== this.turn) return;
    if (!outcome.ok) return this.become({ ...this.findings, more: "failed", failure: outcome.message });
    const { hits } = this.findings;
    this.become({ ...this.findings, hits: [...hits, ...outcome.answer.hits], cursor: outcome.answer.cursor, more: "idle" });
  }

  private become(findings: Findings): void {
    this.findings = findings;
    this.publish(findings);
  }
}

/** The lane in which a hit stands; a session outside of Iris has none. */
export function laneOfHit(hit: Hit): LaneAddress | undefined {
  if (hit.chat_id === undefined) return undefined;
  return hit.thread_id === undefined ? { chat_id: hit.chat_id } : { chat_id: hit.chat_id, thread_id: hit.thread_id };
}
