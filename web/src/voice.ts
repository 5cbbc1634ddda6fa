/** A voice note being recorded. */

import { words } from "./language.ts";

export interface Recording {
  /** How loud it is now, from 0 to 1. */
  level(): number;
  /** Ends it; gives what was said, and for how many seconds. */
  stop(): Promise<{ readonly file: File; readonly seconds: number }>;
  /** Ends it and keeps nothing. */
  cancel(): void;
}

const TYPES = ["audio/webm;codecs=opus", "audio/mp4", "audio/ogg;codecs=opus"];
const BITS_PER_SECOND = 32_000;

/** Whether this browser can record on this page; it may not where the connection is not private. */
export function canRecord(): boolean {
  return typeof MediaRecorder !== "undefined" && navigator.mediaDevices !== undefined;
}

/** Begins at once. Fails with what to tell the person. */
export async function record(): Promise<Recording> {
  const stream = await microphone();
  const type = TYPES.find((candidate) => MediaRecorder.isTypeSupported(candidate));
  const recorder = new MediaRecorder(stream, { audioBitsPerSecond: BITS_PER_SECOND, ...(type === undefined ? {} : { mimeType: type }) });
  const pieces: Blob[] = [];
  recorder.ondataavailable = (event) => pieces.push(event.data);
  const began = performance.now();
  recorder.start(1000);
  const meter = meterOf(stream);
  const release = (): void => {
    for (const track of stream.getTracks()) track.stop();
    meter.close();
  };
  return {
    level: () => meter.level(),
    cancel: () => {
      recorder.onstop = null;
      recorder.stop();
      release();
    },
    stop: () =>
      new Promise((resolve) => {
        const seconds = (performance.now() - began) / 1000;
        recorder.onstop = () => {
          release();
          const plain = recorder.mimeType.split(";")[0] || "audio/webm";
          resolve({ file: new File(pieces, `${words.value.common.voiceMessage}.${endOf(plain)}`, { type: plain }), seconds });
        };
        recorder.stop();
      }),
  };
}

async function microphone(): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: true });
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    if (name === "NotAllowedError") throw new Error(words.value.voice.notAllowed);
    if (name === "NotFoundError") throw new Error(words.value.voice.noMicrophone);
    throw new Error(words.value.voice.failed);
  }
}

function meterOf(stream: MediaStream): { level(): number; close(): void } {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  analyser.fftSize = 512;
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Uint8Array(analyser.fftSize);
  return {
    level: () => {
      analyser.getByteTimeDomainData(samples);
      return Math.min(1, samples.reduce((loudest, sample) => Math.max(loudest, Math.abs(sample - 128)), 0) / 90);
    },
    close: () => void context.close(),
  };
}

function endOf(type: string): string {
  return type === "audio/mp4" ? "m4a" : type === "audio/ogg" ? "ogg" : "webm";
}
