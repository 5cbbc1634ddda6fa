/** Requests that wait for their answer. Each is settled once: by its answer, by a refusal, or when the link is lost. */
import { refusal } from "./format.ts";
import { words } from "./language.ts";
import type { Answers, ClientFrame, ServerFrame } from "./protocol/frames.ts";

export type Kind = keyof Answers & ClientFrame["type"];
export type Request<K extends Kind> = Extract<ClientFrame, { type: K; client_id: string }>;
export type Outcome<K extends Kind> =
  | { readonly ok: true; readonly answer: Answers[K] }
  | { readonly ok: false; readonly message: string };

interface Waiting {
  readonly answered: (frame: ServerFrame) => void;
  readonly failed: (message: string) => void;
}

export class Requests {
  private readonly waiting = new Map<string, Waiting>();
  private readonly transmit: (frame: ClientFrame) => boolean;

  constructor(transmit: (frame: ClientFrame) => boolean) {
    this.transmit = transmit;
  }

  /** Sends a request; whether it could be sent. What cannot be sent is settled at once. */
  ask<K extends Kind>(request: Request<K>, settle: (outcome: Outcome<K>) => void): boolean {
    this.waiting.set(request.client_id, {
      // The gateway answers each request with the one frame that `Answers` names.
      answered: (frame) => settle({ ok: true, answer: frame as Answers[K] }),
      failed: (message) => settle({ ok: false, message }),
    });
    if (this.transmit(request)) return true;
    this.fail(request.client_id, words.value.requests.offline);
    return false;
  }

  received(frame: ServerFrame): void {
    if (!("client_id" in frame) || frame.client_id === undefined) return;
    if (frame.type === "error") return this.fail(frame.client_id, refusal(frame.code, frame.message));
    if (!isAnswer(frame)) return;
    const waiting = this.waiting.get(frame.client_id);
    this.waiting.delete(frame.client_id);
    waiting?.answered(frame);
  }

  lost(): void {
    for (const id of [...this.waiting.keys()]) this.fail(id, words.value.requests.lost);
  }

  private fail(id: string, message: string): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    waiting?.failed(message);
  }
}

/** An echo carries the id of its request, too, and answers nothing. */
function isAnswer(frame: ServerFrame): boolean {
  return frame.type !== "message";
}
