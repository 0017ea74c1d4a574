import { isMutedAt } from "#contract/conversations.ts";
import { otherMember, privateMembers, type Uuid } from "#contract/ids.ts";
import { isMentionOf } from "#contract/messages/mentions.ts";
import {
  notificationSettingsPath,
  type PushPayload,
  summaryNotificationTag,
  testNotificationTag,
  toConversationTag,
} from "#contract/push.ts";
import type { Settings } from "#contract/settings/settings.ts";
import {
  productName,
  toCountText,
  toDeletedText,
  toHandledText,
  toMentionCountText,
  toMentionQuote,
  toMissedCallCountText,
  toPreviewText,
  toQuote,
  toSummaryText,
  toTestText,
} from "#worker/lib/push/texts.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import { hasOnlyMissedCalls } from "#worker/objects/user-channel/inbox/missed-calls.ts";
import type { PushSubscription } from "./subscription-table.ts";

/** Person to whom a push is addressed, with what its content depends on. */
export type Recipient = {
  user: Uuid;
  settings: Pick<Settings, "messages" | "groups" | "calls">;
  findName(user: Uuid): string | undefined;
};

/** Preview level of a conversation's notifications: name and text, name only, or nothing. */
export const getPreviewLevel = (settings: Recipient["settings"], { kind }: InboxEntry) =>
  settings[kind === "group" ? "groups" : "messages"].preview;

/** Text of the newest message, undefined if a notification must not or cannot show it. */
const findText = ({ user, settings }: Recipient, entry: InboxEntry, { language }: PushSubscription) => {
  const { preview, whole, sender, group, conversation } = entry;
  const ownNumber = group ? group.number : privateMembers(conversation)?.indexOf(user);
  const isShown = getPreviewLevel(settings, entry) === "text" && sender !== ownNumber;
  return isShown && preview ? toPreviewText(language, preview, whole) : undefined;
};

/** Whether the unread messages are missed calls, and a notification may say so. */
export const areCountedCalls = (settings: Recipient["settings"], entry: InboxEntry): boolean =>
  hasOnlyMissedCalls(entry) && getPreviewLevel(settings, entry) === "text";

/** Number of messages in words. While a conversation is muted except mentions, they are mentions. */
const findCountText = ({ settings }: Recipient, entry: InboxEntry, { language }: PushSubscription, now: number) => {
  if (areCountedCalls(settings, entry)) return toMissedCallCountText(language, entry.unread);
  const onlyMentions = isMutedAt(entry, now) && getPreviewLevel(settings, entry) !== "nothing";
  return (onlyMentions ? toMentionCountText : toCountText)(language, entry.unread);
};

/**
 * Content of a push of a conversation's new messages, as the person's settings allow it to be shown. `author`: name of
 * the author of the newest one in a group, if known.
 */
export const createMessagePayload = (
  recipient: Recipient,
  entry: InboxEntry,
  author: string | undefined,
  device: PushSubscription,
  { sentAt, isAlerting, replaces = [] }: Pick<PushPayload["data"], "sentAt" | "isAlerting" | "replaces">,
): PushPayload => {
  const { user } = recipient;
  const { conversation, unread, head, group } = entry;
  const { language, origin } = device;
  const other = otherMember(conversation, user);
  const isNameShown = getPreviewLevel(recipient.settings, entry) !== "nothing";
  const name = !isNameShown ? undefined : other === undefined ? group?.name : recipient.findName(other);
  const [quoted, count] = [findText(recipient, entry, device), findCountText(recipient, entry, device, sentAt)];
  const isMention = entry.preview !== null && isMentionOf(entry.preview, group?.number);
  const toText = (shown: string) =>
    isMention ? toMentionQuote(language, author, shown) : author ? toQuote(language, author, shown) : shown;
  // Several missed calls are counted; the newest one says no more.
  const isCounted = quoted === undefined || (unread > 1 && areCountedCalls(recipient.settings, entry));
  const text = isCounted ? undefined : toText(quoted);
  const more = {
    ...(entry.preview?.type === "call" ? { call: entry.preview.id } : {}),
    ...(replaces.length > 0 ? { replaces } : {}),
  };
  return {
    web_push: 8030,
    notification: {
      title: name || productName,
      body: text === undefined ? count : unread > 1 ? `${count}\n${text}` : text,
      navigate: origin + (other === undefined ? `/app/group/${conversation}` : `/app/chat/${other}`),
      tag: toConversationTag(conversation),
      lang: language,
      dir: "auto",
    },
    mutable: true,
    data: {
      kind: "message",
      user,
      conversation,
      count: unread,
      head,
      ...more,
      sentAt,
      isAlerting,
      ...(isNameShown ? {} : ({ isNameHidden: true } as const)),
    },
  };
};

/**
 * Content of a silent push after the message that the notification shows was deleted: the number of the other unread
 * messages, or that there is none left.
 */
export const createDeletedMessagePayload = (
  recipient: Recipient,
  entry: InboxEntry,
  device: PushSubscription,
  sentAt: number,
): PushPayload => {
  const payload = createMessagePayload(recipient, { ...entry, preview: null }, undefined, device, {
    sentAt,
    isAlerting: false,
  });
  const { body } = payload.notification;
  const notification = { ...payload.notification, body: entry.unread > 0 ? body : toDeletedText(device.language) };
  return { ...payload, notification };
};

/** The payload of a silent push whose notification says that it needs no attention any more, and is closed soon. */
export const toHandledPayload = (
  { notification, data, ...rest }: PushPayload,
  subject: Parameters<typeof toHandledText>[1],
): PushPayload => ({
  ...rest,
  notification: { ...notification, body: toHandledText(notification.lang, subject) },
  data: { ...data, count: 0, isAlerting: false, isHandled: true },
});

/** Content of the push that replaces the notification of messages which were read on another device. */
export const createReadPayload = (recipient: Recipient, entry: InboxEntry, device: PushSubscription): PushPayload => {
  const times = { sentAt: Date.now(), isAlerting: false };
  return toHandledPayload(
    createMessagePayload(recipient, { ...entry, preview: null }, undefined, device, times),
    "read",
  );
};

/** Content of the push of the messages that arrived during quiet hours in several conversations. */
export const createSummaryPayload = (
  user: Uuid,
  { language, origin }: PushSubscription,
  totals: { count: number; conversations: number; areMissedCalls: boolean },
  { sentAt, isAlerting }: Pick<PushPayload["data"], "sentAt" | "isAlerting">,
): PushPayload => ({
  web_push: 8030,
  notification: {
    title: productName,
    body: toSummaryText(language, totals),
    navigate: `${origin}/app`,
    tag: summaryNotificationTag,
    lang: language,
    dir: "auto",
  },
  mutable: true,
  data: { kind: "summary", user, count: totals.count, sentAt, isAlerting },
});

/** Content of the push that a person sends to their own device. */
export const createTestPayload = (user: Uuid, { language, origin }: PushSubscription, sentAt: number): PushPayload => ({
  web_push: 8030,
  notification: {
    title: productName,
    body: toTestText(language),
    navigate: origin + notificationSettingsPath,
    tag: testNotificationTag,
    lang: language,
    dir: "auto",
  },
  mutable: true,
  data: { kind: "test", user, count: 0, sentAt, isAlerting: true },
});
