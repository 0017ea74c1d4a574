import { useTranslation } from "react-i18next";
import { toDisplayName } from "#components/people/person-name.ts";
import type { StoredBody } from "#contract/conversations.ts";
import type { GroupCard } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import type { Translate } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { getMemberName, type MemberNames, shortenName } from "./member-names.ts";
import { describeMessage, type GroupMessageContext, MessagePreview } from "./message-preview.tsx";

/** The newest message of a conversation, where it is told of beside it. */
type NewMessageInfo = {
  peer: Uuid | undefined;
  group: GroupCard | null;
  person: { username: string; deleted?: 1 | undefined } | undefined;
  body: StoredBody | null;
  sender: number;
  memberProfiles: MemberNames["authors"];
};

const authorNameChars = 12;

export const getNewMessageTitle = ({ group, peer, person }: NewMessageInfo, t: Translate): string =>
  peer === undefined ? (group?.name ?? t("groups.chat.isGroup")) : toDisplayName(person, t);

/** Where the chat is that it leads to. */
export const toConversationPath = ({ id, peer }: { id: string; peer: Uuid | undefined }): string =>
  peer === undefined ? `/app/group/${id}` : `/app/chat/${peer}`;

const toMemberNames = ({ group, memberProfiles }: NewMessageInfo): MemberNames | undefined =>
  group ? { ownNumber: group.number, authors: memberProfiles } : undefined;

const toGroupMessageContext = (news: NewMessageInfo): GroupMessageContext | undefined => {
  const names = toMemberNames(news);
  return names && { sender: news.sender, names };
};

const formatAuthorPrefix = (news: NewMessageInfo, t: Translate): string => {
  const names = toMemberNames(news);
  if (!names) return "";
  return `${t("chat.from", { name: isolateBidi(shortenName(getMemberName(names, news.sender, t), authorNameChars)) })} `;
};

/** In words alone, for who hears it. */
export const describeNewMessage = (news: NewMessageInfo, hasPreview: boolean, t: Translate): string => {
  const from = t("notifier.from", { name: isolateBidi(getNewMessageTitle(news, t)) });
  if (!hasPreview || !news.body) return from;
  return `${from}. ${formatAuthorPrefix(news, t)}${describeMessage(news.body, t, toGroupMessageContext(news))}`;
};

/** What it says, or without a preview only that it is there. */
export function NewMessagePreview({ news, hasPreview }: { news: NewMessageInfo; hasPreview: boolean }) {
  const { t } = useTranslation();
  if (!hasPreview || !news.body) return t("notifier.newMessage");
  return (
    <>
      {formatAuthorPrefix(news, t)}
      <MessagePreview body={news.body} inGroup={toGroupMessageContext(news)} />
    </>
  );
}
