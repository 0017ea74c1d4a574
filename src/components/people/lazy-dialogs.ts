import { lazyIdleOverlay, lazyOverlay } from "#components/overlays/lazy-overlay.tsx";

const loadDialogs = () => import("./person-dialogs.tsx");

/** The dialogs of `person-dialogs.tsx`, loaded when they open. */
export const LazyBlockPersonDialog = lazyIdleOverlay(async () => ({
  default: (await loadDialogs()).BlockPersonDialog,
}));
export const LazyClearHistoryDialog = lazyIdleOverlay(async () => ({
  default: (await loadDialogs()).ClearHistoryDialog,
}));
export const LazyDeleteLeftGroupDialog = lazyIdleOverlay(async () => ({
  default: (await loadDialogs()).DeleteLeftGroupDialog,
}));
export const LazyDeleteContactDialog = lazyIdleOverlay(async () => ({
  default: (await loadDialogs()).DeleteContactDialog,
}));

/** Dialog that asks for how long a conversation is muted, loaded when it opens. */
export const MuteDialog = lazyOverlay(() => import("./mute-dialog.tsx"));
