import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { listWebLinks } from "#contract/wire/links.ts";
import FileAttachment from "#features/chat/attachments/file-attachment.tsx";
import VoiceMessage from "#features/chat/attachments/voice-message.tsx";
import { type ChatPeople, getSenderName } from "#features/chat/message/senders.ts";
import { formatTime } from "#i18n/format.ts";
import { formatTimeOrDate, isSameDay } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import type { GalleryKind } from "#sync/queries/media-gallery.ts";

function WebLinks({ text }: { text: string }) {
  return listWebLinks(text).map(({ text: shown, href, host }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the same address may occur twice, and the list never changes
    <p key={index}>
      <a
        href={href}
        target="_blank"
        rel="noopener noreferrer nofollow"
        dir="ltr"
        className="inline-flex min-h-12 items-center gap-3 font-medium text-accent [overflow-wrap:anywhere] [unicode-bidi:isolate]"
      >
        <span className="i-ph-link shrink-0 text-xl text-muted" aria-hidden="true" />
        <span className="line-clamp-3">{shown}</span>
      </a>
      {host && <bdi className="text-sm text-muted">{` (${host})`}</bdi>}
    </p>
  ));
}

type MediaListProps = {
  conversation: ConversationId;
  kind: Exclude<GalleryKind, "image">;
  items: readonly ChatItem[];
  people: ChatPeople;
  label: string;
  onShowMessage: (seq: number) => void;
};

/** Files, voice messages or links of a chat, newest first, each with its sender and time. */
export function MediaList({ conversation, kind, items, people, label, onShowMessage }: MediaListProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const formatWhen = (at: number) => {
    const date = formatTimeOrDate(at, language);
    return isSameDay(at, getServerNow()) ? date : `${date} ${formatTime(at, language)}`;
  };
  const renderContent = (item: ChatItem, description: string): ReactNode => {
    const { body } = item;
    // Only sent messages, which cannot be cancelled.
    const attachment = { conversation, item, description, onOpen: () => {}, onDelete: () => {} };
    if (body.type === "voice") return <VoiceMessage {...attachment} body={body} />;
    if (body.type === "file" && kind === "file") return <FileAttachment {...attachment} body={body} />;
    return "text" in body && body.text !== undefined && <WebLinks text={body.text} />;
  };
  return (
    <ul aria-label={label}>
      {items.map((item) => {
        const { key, mine, sender, at, seq } = item;
        const name = mine ? t("messages.you") : getSenderName(people, sender, t);
        const when = formatWhen(at);
        return (
          <li key={key} className="flex items-center gap-1 border-b border-line py-2 pr-1 pl-4">
            <div className="min-w-0 flex-1">
              {renderContent(item, `${name}, ${when}`)}
              <p className="flex gap-1 pt-1 text-xs text-muted">
                <bdi className="truncate font-semibold">{name}</bdi>
                <span aria-hidden="true">·</span>
                <time dateTime={new Date(at).toISOString()} className="shrink-0 tabular-nums">
                  {when}
                </time>
              </p>
            </div>
            <IconButton
              icon="i-ph-chat-circle-text"
              label={t("gallery.show")}
              className="text-muted"
              onClick={() => seq !== undefined && onShowMessage(seq)}
            />
          </li>
        );
      })}
    </ul>
  );
}
