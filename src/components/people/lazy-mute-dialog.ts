import { lazyOverlay } from "#components/overlays/lazy-overlay.tsx";

/** Dialog that asks for how long a conversation is muted, loaded when it opens. */
export const MuteDialog = lazyOverlay(() => import("./mute-dialog.tsx"));
