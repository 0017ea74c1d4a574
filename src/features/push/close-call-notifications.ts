import { listRingNotifications, type NotifiedRing } from "#lib/browser/push/ring-notifications.ts";
import type { CallFeedEvent } from "#sync/connection/call-feed.ts";
import type { SyncEngine } from "#sync/engine/engine.ts";

/** Whether an event tells that a call no longer rings on this device. */
export const endsRing = (event: CallFeedEvent, { id, sentAt }: Pick<NotifiedRing, "id" | "sentAt">): boolean => {
  switch (event.event_type) {
    case "ring":
    case "signal":
      return false;
    case "standing":
      return (
        sentAt < event.now && !event.calls.some(({ call_id, answered_at }) => call_id === id && answered_at === null)
      );
    default:
      return event.data.call_id === id;
  }
};

/** Closes notifications of calls that no longer ring, as this page learns of it. Returns a function that stops it. */
export const closeCallNotifications = ({ client }: SyncEngine): (() => void) =>
  client.calls.subscribe((event) => {
    if (event.event_type === "signal" || event.event_type === "ring") return;
    const close = async () => {
      for (const { call, notification } of await listRingNotifications())
        if (endsRing(event, call)) notification.close();
    };
    void close().catch((error: unknown) => console.warn("notifications", error));
  });
