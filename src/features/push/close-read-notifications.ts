import * as v from "valibot";
import { summaryNotificationTag } from "#contract/push.ts";
import { listShownNotifications } from "#lib/browser/push/notification-lock.ts";
import type { SyncEngine } from "#sync/engine/engine.ts";
import { type ConversationHead, subscribeNewestHeads } from "#sync/hooks/new-messages.ts";

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

const ShownData = v.object({ conversation: v.string(), head: v.number() });

/**
 * Closes notifications of conversations that were read, here or on another device: the leader tab does so when a
 * conversation changes and when the page becomes visible, and then that of quiet hours. Returns a function that stops
 * it.
 */
export const closeReadNotifications = ({ client }: SyncEngine): (() => void) => {
  let newest: readonly ConversationHead[] = [];
  const close = async () => {
    if (!client.isLeader) return;
    const shown = await listShownNotifications();
    const ofMessages = shown.flatMap((notification) => {
      const data = v.safeParse(ShownData, notification.data);
      return data.success ? { ...data.output, notification } : [];
    });
    for (const { notification } of listReadNotifications(ofMessages, newest)) notification.close();
    // The list shows what a summary announced.
    if (client.platform.isVisible())
      for (const notification of shown) if (notification.tag === summaryNotificationTag) notification.close();
  };
  const update = () => void close().catch((error: unknown) => console.warn("notifications", error));
  const unsubscribe = subscribeNewestHeads((heads) => {
    newest = heads;
    update();
  });
  document.addEventListener("visibilitychange", update);
  return () => {
    unsubscribe();
    document.removeEventListener("visibilitychange", update);
  };
};
