/** What can be done with a channel or a thread, as its menu offers it. */
import { isSplit } from "./directory.ts";
import { words } from "./language.ts";
import type { Channel } from "./model.ts";

export type LaneDeed = "rename" | "newTopic" | "setThreads" | "setDefault" | "setAutomation" | "setTarget" | "delete";

export interface MenuItem {
  readonly deed: LaneDeed;
  readonly label: string;
  /** Of something that is on or off. */
  readonly checked?: boolean;
}

export function menuOf(entry: Channel): MenuItem[] {
  const { common, lanes } = words.value;
  const items: (MenuItem | false)[] = entry.thread_id !== undefined ? [
    { deed: "rename", label: lanes.renameTopic },
    { deed: "setTarget", label: lanes.targetTopic },
    { deed: "delete", label: lanes.deleteTopic },
  ] : entry.kind === "room" ? [
    { deed: "rename", label: common.rename },
  ] : [
    { deed: "rename", label: common.rename },
    isSplit(entry) && { deed: "newTopic", label: lanes.newTopic },
    entry.is_default === true && { deed: "setThreads", label: lanes.threads, checked: entry.threads ?? false },
    !entry.is_default && !entry.automation && { deed: "setDefault", label: lanes.makeDefault },
    !entry.is_default && { deed: "setAutomation", label: lanes.automation, checked: entry.automation ?? false },
    { deed: "setTarget", label: lanes.target },
    !entry.is_default && { deed: "delete", label: lanes.delete },
  ];
  return items.filter((item) => item !== false);
}
