import { showToast } from "#components/overlays/toast.tsx";
import { type TextKey, t } from "#i18n/setup.ts";
import type { SyncNotice } from "#sync/engine/sync-client.ts";

/** A notice that becomes a toast. */
export type ShownNotice = Exclude<SyncNotice, "outdated" | "signed-out">;

const texts = {
  "store-reset": "shell.notice.storeReset",
  "settings-refused": "shell.notice.settingsRefused",
  "pin-refused": "errors.too_many_pinned",
  "reaction-refused": "shell.notice.reactionRefused",
  "star-refused": "errors.too_many_starred",
  "deletion-refused": "errors.too_many_deleted",
} as const satisfies Record<ShownNotice, TextKey>;

/** Says what the sync engine could not keep or send. */
export const showNotice = (notice: ShownNotice): void =>
  showToast({ message: t(texts[notice]), tone: notice === "store-reset" ? "info" : "danger" });
