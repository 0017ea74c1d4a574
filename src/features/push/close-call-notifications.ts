import * as v from "valibot";
import type { CallFeedEvent } from "#sync/calls/call-feed.ts";
import type { SyncEngine } from "#sync/engine.ts";

const RingData = v.object({ call: v.object({ id: v.string(), isRinging: v.literal(true), sentAt: v.number() }) });
type Ring = v.InferOutput<typeof RingData>["call"];

/** Whether an event tells that a call no longer rings on this device. */
export const endsRing = (event: CallFeedEvent, { id, sentAt }: Ring): boolean => {
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
export const closeCallNotifications = ({ tab }: SyncEngine): (() => void) =>
  tab.calls.subscribe((event) => {
    if (event.event_type === "signal" || event.event_type === "ring") return;
    const close = async () => {
      const registration = await navigator.serviceWorker.getRegistration();
      for (const notification of (await registration?.getNotifications()) ?? []) {
        const data = v.safeParse(RingData, notification.data);
        if (data.success && endsRing(event, data.output.call)) notification.close();
      }
    };
    void close().catch((error: unknown) => console.warn("notifications", error));
  });
