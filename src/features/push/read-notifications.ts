import type { ConversationHead } from "#sync/hooks/new-messages.ts";

/** Conversation and newest message of a shown notification (`NotificationData` of the service worker). */
export type ShownNotification = { conversation: string; head: number };

/**
 * Shown notifications whose conversation is read on this device. One about a message that this device has not received
 * yet stays.
 */
export const listReadNotifications = <T extends ShownNotification>(
  shown: readonly T[],
  heads: readonly Pick<ConversationHead, "id" | "head" | "unread">[],
): T[] =>
  shown.filter(({ conversation, head }) =>
    heads.some((known) => known.id === conversation && known.unread === 0 && known.head >= head),
  );
