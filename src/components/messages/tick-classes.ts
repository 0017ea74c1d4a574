// @unocss-include – the icons below are CSS classes, and UnoCSS scans only component files by default.
import type { MessageStatus } from "#contract/messages/status.ts";

/** Icon of each delivery status. */
export const tickClasses = {
  sending: "i-ph-clock text-muted",
  sent: "i-ph-check-bold text-muted",
  delivered: "i-ph-checks-bold text-muted",
  read: "i-ph-checks-bold text-read",
  failed: "i-ph-warning-circle-fill text-danger",
} as const satisfies Record<MessageStatus | "failed", string>;
