import { lazyOverlay } from "#components/layout/lazy-component.tsx";

/** Dialog that asks for how long a conversation is muted, loaded when it opens. */
export const MuteDialog = lazyOverlay(() => import("./mute-dialog.tsx"));
