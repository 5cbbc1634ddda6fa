import { Icon } from "./icons.tsx";

export const ClipIcon = () => <Icon><path d="m15.8 9.2-5.9 5.9a3.6 3.6 0 0 1-5.1-5.1l6.3-6.3a2.4 2.4 0 0 1 3.4 3.4l-6.2 6.2a1.2 1.2 0 0 1-1.7-1.7l5.4-5.4" /></Icon>;
export const CameraIcon = () => <Icon><path d="M3 7.5A1.5 1.5 0 0 1 4.5 6h1.8l1.2-1.8h5L13.7 6h1.8A1.5 1.5 0 0 1 17 7.5v7a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 3 14.5Z" /><circle cx="10" cy="10.8" r="2.8" /></Icon>;
export const MicIcon = () => <Icon><rect x="7.6" y="2.8" width="4.8" height="8.6" rx="2.4" /><path d="M4.8 9.4a5.2 5.2 0 0 0 10.4 0M10 14.6v2.6" /></Icon>;
export const FileIcon = () => <Icon><path d="M11.5 2.8H6A1.5 1.5 0 0 0 4.5 4.3v11.4A1.5 1.5 0 0 0 6 17.2h8a1.5 1.5 0 0 0 1.5-1.5V6.8Z" /><path d="M11.5 2.8v4h4" /></Icon>;
export const PlayIcon = () => <Icon><path d="M7 4.6v10.8l8.6-5.4Z" fill="currentColor" /></Icon>;
export const PauseIcon = () => <Icon><path d="M7.2 5v10M12.8 5v10" stroke-width="2.8" /></Icon>;
export const DownloadIcon = () => <Icon><path d="M10 3.5v9M6 9l4 4 4-4M4 16.5h12" /></Icon>;
export const PreviousIcon = () => <Icon><path d="m12.5 5-5 5 5 5" /></Icon>;
export const NextIcon = () => <Icon><path d="m7.5 5 5 5-5 5" /></Icon>;
