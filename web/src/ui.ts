/** What is open on the screen besides the lane itself. */
import { signal } from "@preact/signals";
import type { VNode } from "preact";
import type { Channel, LaneAddress, LaneKey } from "./model.ts";
import { viewing } from "./viewing.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where a name is edited: in the left column, in the topics or in the header. */
export type EditPlace = "row" | "chip" | "header";

export type Editing =
  | { readonly kind: "rename"; readonly key: LaneKey; readonly place: EditPlace }
  | { readonly kind: "newChannel" }
  | { readonly kind: "newTopic" };

export interface MenuItem {
  readonly key: string;
  readonly label: string;
  readonly icon: () => VNode;
  /** Of something that is on or off. */
  readonly checked?: boolean | undefined;
  readonly dangerous?: boolean;
  readonly run: () => void;
}

export interface MenuGroup {
  readonly label: string;
  readonly items: readonly MenuItem[];
}

export interface OpenMenu {
  readonly label: string;
  readonly groups: readonly MenuGroup[];
  readonly at: Point;
  /** What it was opened from: focus goes back there. */
  readonly from: HTMLElement;
  /** Of the menu of a lane. */
  readonly place?: EditPlace;
}

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "plain" | "bad";
  readonly action: ToastAction | undefined;
}

export interface ToastAction {
  readonly label: string;
  readonly run: () => void;
}

/** Where a search looks: everywhere, in the open channel with its threads, or in the open thread. */
export type Scope = "all" | "chat" | "thread";

export interface Sought {
  readonly address: LaneAddress;
  readonly order: number;
}

export const editing = signal<Editing | undefined>(undefined);
export const openMenu = signal<OpenMenu | undefined>(undefined);
/** The lane that a cron job is looked for. */
export const targeting = signal<Channel | undefined>(undefined);
/** The search that is open, and where it began to look. */
export const searching = signal<{ readonly scope: Scope } | undefined>(undefined);
/** The rows of what was taken back that are open. */
export const unfolded = signal<ReadonlySet<string>>(new Set());
export const showingHelp = signal(false);
export const showingDevices = signal(false);
export const showingSettings = signal(false);
/** How a real model is connected. */
export const showingModel = signal(false);
/** Whether the channels lie over the chat, on a narrow screen. */
export const drawerOpen = signal(false);
/** How many devices are paired, as far as that was told. */
export const deviceCount = signal(0);
/** Changes to a newer version of the app, once there is one. */
export const changeVersion = signal<(() => void) | undefined>(undefined);
/** A message that is to be shown and has no row yet. */
export const sought = signal<Sought | undefined>(undefined);
export const toasts = signal<readonly Toast[]>([]);
/** Counts how often something outside the composer sent the person there. */
export const composerCalls = signal(0);

const TOAST_TIME = 8_000;
let toastCount = 0;

export function showToast(text: string, more: { readonly tone?: Toast["tone"]; readonly action?: ToastAction } = {}): void {
  const toast: Toast = { id: ++toastCount, text, tone: more.tone ?? "plain", action: more.action };
  toasts.value = [...toasts.value, toast];
  setTimeout(() => dismissToast(toast.id), TOAST_TIME);
}

export function dismissToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function toggleFold(key: string, on = !unfolded.value.has(key)): void {
  const others = [...unfolded.value].filter((other) => other !== key);
  unfolded.value = new Set(on ? [...others, key] : others);
}

export function callComposer(): void {
  composerCalls.value++;
}

/** Whether something lies over the chat that takes the keys. */
export function isCovered(): boolean {
  const shown = [openMenu, targeting, searching, viewing].some((part) => part.value !== undefined);
  return shown || [showingDevices, showingSettings, showingModel, showingHelp].some((part) => part.value);
}
