import { useTranslation } from "react-i18next";
import { nameOfPerson } from "#components/people/person-name.ts";
import type { StoredBody } from "#contract/conversations.ts";
import type { GroupCard } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import type { Translate } from "#i18n/setup.ts";
import { isolate } from "#lib/text/bidi.ts";
import { type MemberNames, nameOfMember, shortName } from "./member-names.ts";
import { describeMessage, type InGroup, MessagePreview } from "./message-preview.tsx";

/** The newest message of a conversation, where it is told of beside it. */
type News = {
  peer: Uuid | undefined;
  group: GroupCard | null;
  person: { username: string; deleted?: 1 | undefined } | undefined;
  body: StoredBody | null;
  sender: number;
  authors: MemberNames["authors"];
};

const authorLetters = 12;

export const nameOfNews = ({ group, peer, person }: News, t: Translate): string =>
  peer === undefined ? (group?.name ?? t("groups.chat.isGroup")) : nameOfPerson(person, t);

/** Where the chat is that it leads to. */
export const pathOfNews = ({ id, peer }: { id: string; peer: Uuid | undefined }): string =>
  peer === undefined ? `/app/group/${id}` : `/app/chat/${peer}`;

const namesIn = ({ group, authors }: News): MemberNames | undefined =>
  group ? { own: group.number, authors } : undefined;

const inGroupOf = (news: News): InGroup | undefined => {
  const names = namesIn(news);
  return names && { sender: news.sender, names };
};

const authorOf = (news: News, t: Translate): string => {
  const names = namesIn(news);
  if (!names) return "";
  return `${t("chat.from", { name: isolate(shortName(nameOfMember(names, news.sender, t), authorLetters)) })} `;
};

/** In words alone, for who hears it. */
export const wordsOfNews = (news: News, hasPreview: boolean, t: Translate): string => {
  const from = t("notifier.from", { name: isolate(nameOfNews(news, t)) });
  if (!hasPreview || !news.body) return from;
  return `${from}. ${authorOf(news, t)}${describeMessage(news.body, t, inGroupOf(news))}`;
};

/** What it says, or without a preview only that it is there. */
export function NewsPreview({ news, hasPreview }: { news: News; hasPreview: boolean }) {
  const { t } = useTranslation();
  if (!hasPreview || !news.body) return t("notifier.newMessage");
  return (
    <>
      {authorOf(news, t)}
      <MessagePreview body={news.body} inGroup={inGroupOf(news)} />
    </>
  );
}
