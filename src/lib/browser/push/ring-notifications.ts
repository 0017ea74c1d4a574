import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { listShownNotifications } from "./notification-lock.ts";
import { subscribePushMessages } from "./push-messages.ts";

/** Data of the notification of a ringing call (`NotificationData` of the service worker). */
const RingData = v.object({ call: v.object({ id: Uuid, isRinging: v.literal(true), sentAt: v.number() }) });
export type NotifiedRing = v.InferOutput<typeof RingData>["call"];

/** Shown notifications of ringing calls. */
export const listRingNotifications = async (): Promise<{ call: NotifiedRing; notification: Notification }[]> =>
  (await listShownNotifications()).flatMap((notification) => {
    const data = v.safeParse(RingData, notification.data);
    return data.success ? [{ call: data.output.call, notification }] : [];
  });

/** Calls the listener if a notification of the ringing call is shown, and when one is shown later. */
export const subscribeRingNotification = (call: Uuid, onShown: () => void): (() => void) => {
  let isStopped = false;
  const notify = () => {
    if (!isStopped) onShown();
  };
  const check = async () => {
    if ((await listRingNotifications()).some(({ call: { id } }) => id === call)) notify();
  };
  void check().catch(() => undefined); // a push that arrives is reported all the same
  const unsubscribe = subscribePushMessages(({ type, kind }) => {
    if (type === "push-arrived" && kind === "call") notify();
  });
  return () => {
    isStopped = true;
    unsubscribe();
  };
};
