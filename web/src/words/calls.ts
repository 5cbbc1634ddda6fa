/** What a notification says that shows no words of the conversation; the service worker has no other words. `#` is a number. */
import type { Language } from "../language.ts";
import type { PushNote } from "../protocol/frames.ts";

export const calls: Readonly<Record<Language, Readonly<Record<PushNote["kind"], { readonly one: string; readonly more: string }>>>> = {
  en: {
    final: { one: "A new answer", more: "# new messages" },
    request: { one: "Your agent asks you something", more: "Your agent asks you something" },
    report: { one: "A new report", more: "# new reports" },
  },
  zh: {
    final: { one: "有新的回复", more: "# 条新消息" },
    request: { one: "你的智能体有事要问你", more: "你的智能体有事要问你" },
    report: { one: "有新的报告", more: "# 份新报告" },
  },
};
