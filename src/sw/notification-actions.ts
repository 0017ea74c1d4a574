import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import { cleanText, isBlank } from "#contract/text.ts";
import { endPeriodicOutboxSync, outboxSyncTag, requestOutboxSync } from "#lib/browser/push/background-sync.ts";
import { readPushDevice } from "#lib/browser/push/push-device.ts";
import { type SendingOutcome, sendInBackground } from "./background-sender.ts";
import { isAppWindow } from "./choose-window.ts";
import { announceToPages, listWindows } from "./clients.ts";
import { TemporaryFailure } from "./person-request.ts";
import { type NotificationData, toReplyNotification } from "./push-notification.ts";
import { findNotificationData, listNotifications, showNotification, updateBadge } from "./shown-notifications.ts";
import { insertUnsent, listUnsentOwners, withdrawUnsent } from "./unsent-messages.ts";

/** Replies and read positions that the person enters in a notification, and the sending of what is unsent. */
declare const self: ServiceWorkerGlobalScope;

type MessageNotificationData = NotificationData & { conversation: ConversationId; user: Uuid };

/** Data of a notification of messages to the person who is signed in here, else undefined. */
export const findOwnMessageData = async (notification: Notification): Promise<MessageNotificationData | undefined> => {
  const data = findNotificationData(notification);
  const device = await readPushDevice();
  if (!data || data.conversation === undefined || data.user === undefined || data.user !== device?.user)
    return undefined;
  return { ...data, conversation: data.conversation, user: data.user };
};

/** Parts of a text that fit into one message each, without a cut inside a character. */
const splitText = (text: string): string[] =>
  text.length <= messageTextMaxLength
    ? [text]
    : (text.match(new RegExp(`[^]{1,${messageTextMaxLength / 2}}`, "gu")) ?? []);

/** Texts of the messages that a reply becomes; none if it has no visible character. */
export const toReplyTexts = (reply: string): string[] =>
  splitText(cleanText(reply))
    .map(cleanText)
    .filter((text) => !isBlank(text));

/** Closes the notifications of messages that were read. A newer one of the same conversation stays. */
const closeRead = async ({ read }: SendingOutcome): Promise<void> => {
  for (const shown of await listNotifications()) {
    const { conversation, head = 0 } = findNotificationData(shown) ?? {};
    if (conversation !== undefined && head <= (read.get(conversation) ?? -1)) shown.close();
  }
};

/** Stores replies and the read, unless the person signs out meanwhile. Resolves once they are on the disk. */
const storeEntries = async (
  { user, conversation, head }: MessageNotificationData,
  replies: Parameters<typeof insertUnsent>[2],
): Promise<boolean> => {
  await insertUnsent(user, { conversation, head }, replies);
  if ((await readPushDevice())?.user === user) return true;
  await withdrawUnsent(user, { conversation, head }, replies);
  return false;
};

/**
 * Sends what is unsent in a conversation. What cannot be sent now is sent in a sync event or by the app. Returns
 * undefined if it waits.
 */
export const sendOrWait = async (user: Uuid, conversation: ConversationId): Promise<SendingOutcome | undefined> => {
  await requestOutboxSync(self.registration); // first: the worker may be stopped at any time
  try {
    return await sendInBackground(user, conversation);
  } catch (error) {
    if (!(error instanceof TemporaryFailure)) throw error;
    return undefined;
  } finally {
    await announceToPages({ type: "outbox-changed" });
  }
};

/**
 * Sends a reply and marks the conversation as read. The reply is stored before anything else, and its notification says
 * that it waits until the server has it.
 */
export const sendReply = async (
  notification: Notification,
  data: MessageNotificationData,
  texts: readonly string[],
): Promise<void> => {
  const { user, conversation } = data;
  const replies = texts.map((text) => ({ cid: createUuid(), text }));
  if (!(await storeEntries(data, replies))) return notification.close();
  const show = async (state: "waiting" | "refused") => {
    const { title, tag, lang } = notification;
    await showNotification(toReplyNotification({ title, tag, lang, data }, texts.join("\n"), state));
  };
  await show("waiting");
  const outcome = await sendOrWait(user, conversation);
  if (!outcome) return;
  await closeRead(outcome);
  if (outcome.refused.has(conversation)) await show("refused");
  await updateBadge();
};

/** Marks the conversation of a notification as read, as far as the notification tells of its messages. */
export const markRead = async (notification: Notification, data: MessageNotificationData): Promise<void> => {
  notification.close();
  await updateBadge();
  if (await storeEntries(data, [])) await sendOrWait(data.user, data.conversation);
};

/**
 * Sends what the app and the notifications left unsent, for everybody who has data on this device; the server refuses
 * what is not of the person who is signed in. Rejects if something has to be tried again: the browser then repeats the
 * event later.
 */
export const handleSync = async (tag: string): Promise<void> => {
  if (tag !== outboxSyncTag) return;
  await announceToPages({ type: "outbox-changed" });
  // The visible app sends by itself.
  if ((await listWindows()).some((page) => isAppWindow(page) && page.visibilityState === "visible")) return;
  let failure: unknown;
  for (const user of await listUnsentOwners()) {
    try {
      await closeRead(await sendInBackground(user));
    } catch (error) {
      failure = error;
    }
  }
  await updateBadge();
  if (failure) throw failure;
  await endPeriodicOutboxSync(self.registration);
};
