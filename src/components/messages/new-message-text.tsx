import { useTranslation } from "react-i18next";
import type { GroupCard } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import type { PreviewLevel } from "#contract/settings/settings.ts";
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

/** Name of a new message's conversation, or that of the product if notifications show nothing of it. */
export const getNewMessageTitle = (message: NewMessageInfo, level: PreviewLevel, t: Translate): string =>
  level === "nothing" ? "Lisolo" : getConversationName(message, t);

/** Spoken announcement for screen readers, as far as the preview level allows. */
export const describeNewMessage = (message: NewMessageInfo, level: PreviewLevel, t: Translate): string => {
  if (level === "nothing") return t("notifier.newMessage");
  const from = t("notifier.from", { name: isolateBidi(getConversationName(message, t)) });
  if (level !== "text" || !message.body) return from;
  return `${from}. ${formatAuthorPrefix(message, t)}${describeMessage(message.body, t, toGroupMessageContext(message))}`;
};

/** Visible preview of a new message, or a generic text if its text is not shown. */
export function NewMessagePreview({ message, level }: { message: NewMessageInfo; level: PreviewLevel }) {
  const { t } = useTranslation();
  if (level !== "text" || !message.body) return t("notifier.newMessage");
  return (
    <>
      {formatAuthorPrefix(message, t)}
      <MessagePreview body={message.body} inGroup={toGroupMessageContext(message)} />
    </>
  );
}
