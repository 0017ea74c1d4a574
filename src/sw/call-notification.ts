import * as v from "valibot";
import { CallResult, getRingEndsAt } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { PushPayload } from "#contract/push.ts";
import type { PushDevice } from "#lib/browser/push/push-device.ts";
import { sleep } from "#lib/browser/time/sleep.ts";
import { isAppWindow } from "./choose-window.ts";
import { listWindows } from "./clients.ts";
import { requestAsPerson } from "./person-request.ts";
import { toCallNotification, toNotification } from "./push-notification.ts";
import { findNotificationData, listNotifications, showNotification } from "./shown-notifications.ts";

/** Notifications of calls while the app is closed: they ring, and another one replaces them when the call ends. */

/** Ringing call of a push. Times are those of the server. */
type PushedCall = { id: Uuid; conversation: ConversationId; user: Uuid; sentAt: number; expiresAt: number };

const ringMinMs = 2_000; // a shorter ring would be over before anybody could take the phone
const ringRepeatMs = 6_000; // Chromium stops an idle worker after about 30 s: four or five sounds are possible
const stateTimeoutMs = 3_000;
const handledShownMs = 5_000;
const declineAttempts = 3;
const declinePauseMs = 2_000;

/**
 * How long a call rings on this device, in milliseconds; undefined if the server has to be asked, because the call is
 * over by the device's clock. A clock that is behind cannot make a push younger than it was when it was sent: the ring
 * then lasts too long at most until the server has been asked.
 */
export const toRingMs = ({ sentAt, expiresAt }: Pick<PushedCall, "sentAt" | "expiresAt">, now: number) => {
  const leftMs = expiresAt - Math.max(now, sentAt);
  return leftMs < ringMinMs ? undefined : leftMs;
};

const findPushedCall = ({ data }: PushPayload): PushedCall | undefined => {
  const { kind, call: id, user, conversation, sentAt, expiresAt } = data;
  if (kind !== "call" || id === undefined || conversation === undefined || expiresAt === undefined) return undefined;
  return { id, conversation, user, sentAt, expiresAt };
};

/** Ring of a call by the server: for how long it goes on, or how the call ended. */
type RingState = { ringMs: number } | { ending: "missed" | "ended" };

/** Undefined without an answer. */
const fetchRingState = async ({ id, conversation, user }: PushedCall): Promise<RingState | undefined> => {
  const request = requestAsPerson(user, "GET", `/api/calls/${id}?conversation=${conversation}`);
  const answer = await Promise.race([request, sleep(stateTimeoutMs)]).catch(() => undefined);
  const parsed = v.safeParse(CallResult, answer?.body);
  if (!parsed.success) return undefined;
  const { call, over, now } = parsed.output;
  if (over) return { ending: over.status === "missed" ? "missed" : "ended" };
  const ringMs = getRingEndsAt(call) - now;
  if (call.answered_at !== null) return { ending: "ended" };
  return ringMs < ringMinMs ? { ending: "missed" } : { ringMs };
};

const hasVisiblePage = async (): Promise<boolean> =>
  (await listWindows()).filter(isAppWindow).some(({ visibilityState }) => visibilityState === "visible");

/** Shown notifications about a call. */
const listOfCall = async (id: Uuid): Promise<Notification[]> =>
  (await listNotifications()).filter((notification) => findNotificationData(notification)?.call?.id === id);

const isRinging = async ({ id }: PushedCall): Promise<boolean> =>
  (await listOfCall(id)).some((notification) => findNotificationData(notification)?.call?.isRinging);

const showCall = (
  payload: PushPayload,
  { id, conversation }: PushedCall,
  { body, isRinging, isSilent }: { body: string; isRinging: boolean; isSilent: boolean },
): Promise<void> => showNotification(toCallNotification(payload, { id, conversation, isRinging, body }, isSilent));

/** Shows the ring, again if it is shown already. A visible page rings by itself, so this makes no sound then. */
const showRing = async (payload: PushPayload, call: PushedCall, isRepeated = false): Promise<void> => {
  const isSilent = isRepeated || !payload.data.isAlerting || (await hasVisiblePage());
  await showCall(payload, call, { body: payload.notification.body, isRinging: true, isSilent });
};

/** Silently replaces the ring of a call that is over, or shows that there was one. */
const showEnd = async (payload: PushPayload, call: PushedCall, ending: "missed" | "ended"): Promise<void> => {
  const { missedText = "", endedText = "" } = payload.data;
  await showCall(payload, call, {
    body: ending === "missed" ? missedText : endedText,
    isRinging: false,
    isSilent: true,
  });
};

/** Closes the notifications about a call. */
const closeOfCall = async (id: Uuid): Promise<void> => {
  for (const notification of await listOfCall(id)) notification.close();
};

/**
 * Repeats the sound of a ring until the notification is gone or the call is over. Runs outside `waitUntil`: browsers
 * handle one push after the other, and the push that ends the ring must not wait for it.
 */
const repeatRing = async (payload: PushPayload, call: PushedCall, ringMs: number): Promise<void> => {
  let endsAt = Date.now() + ringMs;
  for (;;) {
    const state = await fetchRingState(call);
    if (!(await isRinging(call))) return;
    if (state && "ending" in state) {
      // A visible page shows how the call goes on, and may have closed the notification meanwhile.
      const isShownInApp = state.ending === "ended" && (await hasVisiblePage());
      return isShownInApp ? closeOfCall(call.id) : showEnd(payload, call, state.ending);
    }
    if (state) endsAt = Date.now() + state.ringMs;
    await sleep(Math.max(0, Math.min(ringRepeatMs, endsAt - Date.now())));
    if (!(await isRinging(call))) return;
    if (Date.now() >= endsAt) return showEnd(payload, call, "missed");
    await showRing(payload, call);
  }
};

const ring = async (payload: PushPayload, call: PushedCall): Promise<void> => {
  const shown = await listOfCall(call.id);
  if (await isRinging(call)) return showRing(payload, call, true); // the push was repeated
  const ringMs = shown.length > 0 ? undefined : toRingMs(call, Date.now());
  const state: RingState | undefined = ringMs === undefined ? await fetchRingState(call) : { ringMs };
  if (!state || "ending" in state) return showEnd(payload, call, state?.ending ?? "missed");
  await showRing(payload, call);
  void repeatRing(payload, call, state.ringMs).catch(() => undefined);
};

/**
 * Shows the unread messages of which the newest is a call, silently if that rang here, in the place of its ring.
 */
const showMissedCall = async (payload: PushPayload, device: PushDevice, id: Uuid): Promise<void> => {
  const { data } = payload;
  const isAlerting = data.isAlerting && (await listOfCall(id)).length === 0;
  await showNotification(toNotification({ ...payload, data: { ...data, isAlerting } }, device, []));
  await closeOfCall(id);
};

/** Shows for a moment that a call was answered or declined on another device. */
const showHandledCall = async (payload: PushPayload, id: Uuid, conversation: ConversationId): Promise<void> => {
  const { body } = payload.notification;
  await showNotification(toCallNotification(payload, { id, conversation, isRinging: false, body }, true));
  void sleep(handledShownMs).then(() => closeOfCall(id));
};

/** Shows what a push about a call says. Returns false if the push is about something else. */
export const handleCallPush = async (payload: PushPayload, device: PushDevice): Promise<boolean> => {
  const { kind, call: id, conversation } = payload.data;
  const call = findPushedCall(payload);
  if (call) await ring(payload, call);
  else if ((kind === "missed_call" || kind === "message") && id !== undefined)
    await showMissedCall(payload, device, id);
  else if (kind === "call_ended" && id !== undefined && conversation !== undefined)
    await showHandledCall(payload, id, conversation);
  else return false;
  return true;
};

/** Declines the call of a notification without opening the app. */
export const declineCall = async (notification: Notification): Promise<void> => {
  notification.close();
  const { call } = findNotificationData(notification) ?? {};
  if (!call) return;
  const body = { conversation: call.conversation, status: "rejected" };
  for (let attempt = 1; ; attempt++) {
    try {
      await requestAsPerson(call.user, "POST", `/api/calls/${call.id}/end`, body);
      return;
    } catch {
      if (attempt === declineAttempts) return; // it rings out
      await sleep(declinePauseMs);
    }
  }
};
