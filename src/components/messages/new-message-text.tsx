import { useTranslation } from "react-i18next";
import type { StoredBody } from "#contract/conversations.ts";
import type { GroupCard } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import type { Translate } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { getConversationName } from "./conversation-name.ts";
import { getMemberName, type MemberNames, shortenName, toMemberNames } from "./member-names.ts";
import { MessagePreview } from "./message-preview.tsx";
import { describeMessage, type GroupMessageContext } from "./message-preview-text.ts";

/** Newest message of a conversation, as it is announced outside of its chat. */
type NewMessageInfo = {
  peer: Uuid | undefined;
  group: GroupCard | null;
  person: { username: string; deleted?: 1 | undefined } | undefined;
  body: StoredBody | null;
  sender: number;
  memberProfiles: MemberNames["profiles"];
};

const authorNameChars = 12;

const toGroupMessageContext = (message: NewMessageInfo): GroupMessageContext | undefined => {
  const names = toMemberNames(message);
  return names && { sender: message.sender, names };
};

const formatAuthorPrefix = (message: NewMessageInfo, t: Translate): string => {
  const names = toMemberNames(message);
  if (!names) return "";
  return `${t("chat.from", { name: isolateBidi(shortenName(getMemberName(names, message.sender, t), authorNameChars)) })} `;
};

/** Spoken announcement for screen readers; without a preview only the name of the conversation. */
export const describeNewMessage = (message: NewMessageInfo, hasPreview: boolean, t: Translate): string => {
  const from = t("notifier.from", { name: isolateBidi(getConversationName(message, t)) });
  if (!hasPreview || !message.body) return from;
  return `${from}. ${formatAuthorPrefix(message, t)}${describeMessage(message.body, t, toGroupMessageContext(message))}`;
};

/** Visible preview of a new message, or a generic text if previews are off. */
export function NewMessagePreview({ message, hasPreview }: { message: NewMessageInfo; hasPreview: boolean }) {
  const { t } = useTranslation();
  if (!hasPreview || !message.body) return t("notifier.newMessage");
  return (
    <>
      {formatAuthorPrefix(message, t)}
      <MessagePreview body={message.body} inGroup={toGroupMessageContext(message)} />
    </>
  );
}
