import { otherMember, privateMembers, type Uuid } from "#contract/ids.ts";
import { notificationSettingsPath, type PushPayload, testNotificationTag, toConversationTag } from "#contract/push.ts";
import type { Settings } from "#contract/settings.ts";
import { productName, toCountText, toPreviewText, toQuote, toTestText } from "#worker/lib/push/texts.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { PushSubscription } from "./subscription-table.ts";

/** Person to whom a push is addressed, with what its content depends on. */
export type Recipient = {
  user: Uuid;
  settings: Pick<Settings, "messages" | "groups" | "calls">;
  findName(user: Uuid): string | undefined;
};

/** Text of the newest message, undefined if a notification must not or cannot show it. */
const findText = ({ user, settings }: Recipient, entry: InboxEntry, { language }: PushSubscription) => {
  const { kind, preview, sender, group, conversation } = entry;
  const ownNumber = group ? group.number : privateMembers(conversation)?.indexOf(user);
  const isShown = settings[kind === "group" ? "groups" : "messages"].preview && sender !== ownNumber;
  return isShown && preview ? toPreviewText(language, preview) : undefined;
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
  { sentAt, isAlerting }: Pick<PushPayload["data"], "sentAt" | "isAlerting">,
): PushPayload => {
  const { user } = recipient;
  const { conversation, unread, head, group } = entry;
  const { language, origin } = device;
  const other = otherMember(conversation, user);
  const name = other === undefined ? group?.name : recipient.findName(other);
  const [quoted, count] = [findText(recipient, entry, device), toCountText(language, unread)];
  const text = quoted !== undefined && author ? toQuote(language, author, quoted) : quoted;
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
    data: { kind: "message", user, conversation, count: unread, head, sentAt, isAlerting },
  };
};

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
