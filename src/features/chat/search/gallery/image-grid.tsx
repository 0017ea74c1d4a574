import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ConversationId } from "#contract/ids.ts";
import type { Body } from "#contract/messages/body.ts";
import { removeFormatting } from "#contract/wire/formatting.ts";
import { type ChatPeople, getSenderName } from "#features/chat/message/senders.ts";
import { formatTime } from "#i18n/format.ts";
import { formatDayHeading } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { toThumbUrl } from "#lib/media/thumbhash.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { useFile } from "#sync/hooks/use-files.ts";

type ImageBody = Extract<Body, { type: "image" }>;

/** Image that is on this device already. It is not downloaded: the thumbhash below it is enough to choose by. */
function StoredImage({ conversation, body }: { conversation: ConversationId; body: ImageBody }) {
  const { url } = useFile(conversation, body);
  return url && <img src={url} alt="" decoding="async" className="absolute inset-0 size-full object-cover" />;
}

type TileProps = { conversation: ConversationId; body: ImageBody; label: string; onOpen: () => void };

/** Square of the grid. Its file is read once it comes near the screen. */
function ImageTile({ conversation, body, label, onOpen }: TileProps) {
  const tile = useRef<HTMLButtonElement>(null);
  const [isNear, setNear] = useState(false);
  const [thumb] = useState(() => toThumbUrl(body.thumb));
  useEffect(() => {
    if (isNear || !tile.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setNear(true), {
      rootMargin: "200px",
    });
    observer.observe(tile.current);
    return () => observer.disconnect();
  }, [isNear]);
  return (
    <button
      ref={tile}
      type="button"
      aria-label={label}
      className="relative block aspect-square w-full overflow-hidden bg-raised -outline-offset-3"
      onClick={onOpen}
    >
      {thumb && <img src={thumb} alt="" className="absolute inset-0 size-full object-cover" />}
      {isNear && <StoredImage conversation={conversation} body={body} />}
    </button>
  );
}

type ImageGridProps = {
  conversation: ConversationId;
  items: readonly ChatItem[];
  people: ChatPeople;
  label: string;
  onOpen: (key: string) => void;
};

/** Images of a chat as squares, newest first. */
export function ImageGrid({ conversation, items, people, label, onOpen }: ImageGridProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  return (
    <ul aria-label={label} className="grid grid-cols-3 gap-0.5 sm:grid-cols-4">
      {items.map(({ key, body, mine, sender, at }) => {
        if (body.type !== "image") return null;
        const name = mine ? t("messages.you") : getSenderName(people, sender, t);
        const caption = body.text === undefined ? "" : `, ${removeFormatting(body.text)}`;
        const when = `${formatDayHeading(at, language)}, ${formatTime(at, language)}`;
        return (
          <li key={key}>
            <ImageTile
              conversation={conversation}
              body={body}
              label={t("messages.pictureBy", { name, when }) + caption}
              onOpen={() => onOpen(key)}
            />
          </li>
        );
      })}
    </ul>
  );
}
