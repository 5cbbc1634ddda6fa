import type { ComponentChildren } from "preact";

export function Icon({ children, className = "" }: { children: ComponentChildren; className?: string }) {
  return (
    <svg
      class={`icon ${className}`} viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor"
      stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"
    >
      {children}
    </svg>
  );
}

export const MenuIcon = () => <Icon><path d="M3 5.5h14M3 10h14M3 14.5h14" /></Icon>;
export const CloseIcon = () => <Icon><path d="m5 5 10 10M15 5 5 15" /></Icon>;
export const SendIcon = () => <Icon><path d="M10 16V4.5M5 9.2l5-5 5 5" /></Icon>;
export const StopIcon = () => <Icon><rect x="5.5" y="5.5" width="9" height="9" rx="2" fill="currentColor" /></Icon>;
export const DownIcon = () => <Icon><path d="M10 4v11.5M5.2 11l4.8 4.8 4.8-4.8" /></Icon>;
export const ChevronIcon = () => <Icon className="chevron"><path d="m7.5 5 5 5-5 5" /></Icon>;
export const CopyIcon = () => (
  <Icon><rect x="7" y="7" width="9.5" height="9.5" rx="2" /><path d="M4.5 13A1.5 1.5 0 0 1 3.5 11.6V5.5a2 2 0 0 1 2-2h6.1A1.5 1.5 0 0 1 13 4.5" /></Icon>
);
export const CheckIcon = () => <Icon><path d="m4.5 10.5 3.7 3.7 7.3-8" /></Icon>;
export const CrossIcon = () => <Icon><path d="m5.5 5.5 9 9m0-9-9 9" /></Icon>;
export const BlockedIcon = () => <Icon><circle cx="10" cy="10" r="6.5" /><path d="m5.5 5.5 9 9" /></Icon>;
export const CancelledIcon = () => <Icon><circle cx="10" cy="10" r="6.5" /><path d="M7 10h6" /></Icon>;
export const ThoughtIcon = () => (
  <Icon><path d="M10 3.2c.6 4 2.8 6.2 6.8 6.8-4 .6-6.2 2.8-6.8 6.8-.6-4-2.8-6.2-6.8-6.8 4-.6 6.2-2.8 6.8-6.8Z" /></Icon>
);
export const ClockIcon = () => <Icon><circle cx="10" cy="10" r="6.8" /><path d="M10 6.2V10l2.6 1.8" /></Icon>;
export const HomeLaneIcon = () => <Icon><circle cx="10" cy="10" r="6.5" /><circle cx="10" cy="10" r="2.3" fill="currentColor" stroke="none" /></Icon>;
export const ChannelIcon = () => <Icon><path d="M8 3.5 6.5 16.5M13.5 3.5 12 16.5M3.8 7.5h13M3.2 12.5h13" /></Icon>;
export const AlertIcon = () => <Icon><circle cx="10" cy="10" r="6.8" /><path d="M10 6.5v4.2M10 13.4v.1" /></Icon>;
export const SearchIcon = () => <Icon><circle cx="8.8" cy="8.8" r="5.3" /><path d="m12.8 12.8 4 4" /></Icon>;
export const BackIcon = () => <Icon><path d="M16 10H4.5M9.5 4.8 4.3 10l5.2 5.2" /></Icon>;
export const PlusIcon = () => <Icon><path d="M10 4.5v11M4.5 10h11" /></Icon>;
export const MoreIcon = () => <Icon><path d="M4.5 10h.01M10 10h.01M15.5 10h.01" stroke-width="2.6" /></Icon>;
export const GearIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="2.4" />
    <path d="M10 2.8v2.1M10 15.1v2.1M2.8 10h2.1M15.1 10h2.1M4.9 4.9l1.5 1.5M13.6 13.6l1.5 1.5M15.1 4.9l-1.5 1.5M6.4 13.6l-1.5 1.5" />
    <circle cx="10" cy="10" r="5.2" />
  </Icon>
);
export const RoomIcon = () => (
  <Icon><circle cx="7.3" cy="7.5" r="2.6" /><path d="M2.8 15.8c.3-2.7 2-4.2 4.5-4.2s4.2 1.5 4.5 4.2M12.6 5.2a2.5 2.5 0 0 1 0 4.7M14.3 12c1.7.6 2.7 1.9 2.9 3.8" /></Icon>
);
export const HandIcon = () => (
  <Icon><path d="M6.5 10.5V5.2a1.2 1.2 0 0 1 2.4 0V9M8.9 8.6V3.9a1.2 1.2 0 0 1 2.4 0v4.8M11.3 8.9V5a1.2 1.2 0 0 1 2.4 0v6.8c0 3-1.7 5-4.5 5-2.3 0-3.5-1.1-4.6-3.3l-1.3-2.6c-.6-1.3 1-2.2 1.9-1.1l1.3 1.7" /></Icon>
);
export const TerminalIcon = () => <Icon><rect x="2.8" y="4" width="14.4" height="12" rx="2.2" /><path d="m6 8 2.3 2L6 12M10.2 12.5h3.6" /></Icon>;
export const PencilIcon = () => <Icon><path d="m12.6 4.4 3 3L7.2 15.8l-3.7.7.7-3.7 8.4-8.4Z" /></Icon>;
export const TrashIcon = () => <Icon><path d="M4 5.8h12M8 5.8V3.8h4v2M5.5 5.8l.7 10.4h7.6l.7-10.4M8.5 9v4.5M11.5 9v4.5" /></Icon>;
export const LinkIcon = () => <Icon><path d="M8.6 11.4a3 3 0 0 0 4.3 0l2.7-2.7a3 3 0 0 0-4.3-4.3l-1 1M11.4 8.6a3 3 0 0 0-4.3 0l-2.7 2.7a3 3 0 0 0 4.3 4.3l1-1" /></Icon>;
export const MarkdownIcon = () => <Icon><rect x="2.8" y="5" width="14.4" height="10" rx="2" /><path d="M5.5 12V8l2 2.2L9.5 8v4M13.2 8v4M11.6 10.6l1.6 1.6 1.6-1.6" /></Icon>;
export const SelectIcon = () => <Icon><path d="M7.5 4h5M7.5 16h5M10 4v12M3.5 8v4M16.5 8v4" /></Icon>;
export const TopicsIcon = () => <Icon><path d="M3.5 5h8M3.5 10h13M3.5 15h10" /><path d="M14.5 5h2" /></Icon>;
export const ShieldIcon = () => <Icon><path d="M10 2.8 4 5v4.6c0 3.6 2.4 6.3 6 7.6 3.6-1.3 6-4 6-7.6V5l-6-2.2Z" /><path d="M10 7v3.4M10 13v.1" /></Icon>;
export const QuestionIcon = () => <Icon><circle cx="10" cy="10" r="6.8" /><path d="M7.9 8.1a2.1 2.1 0 1 1 3 1.9c-.6.3-.9.8-.9 1.4M10 13.7v.1" /></Icon>;
export const ChoiceIcon = () => <Icon><path d="M4 6h6M15 6h1M4 14h1M10 14h6" /><circle cx="12.5" cy="6" r="2" /><circle cx="7.5" cy="14" r="2" /></Icon>;
export const RetryIcon = () => <Icon><path d="M4.5 10a5.5 5.5 0 1 1 1.7 4M4.3 16v-3h3" /></Icon>;
export const ReplyIcon = () => <Icon><path d="M8 5 3.5 9.5 8 14M4 9.5h7.5a5 5 0 0 1 5 5v.5" /></Icon>;
