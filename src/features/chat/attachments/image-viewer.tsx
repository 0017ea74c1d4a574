import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton, iconButtonLook } from "#components/controls/icon-button.tsx";
import { overPicture, PictureLayer, PictureModal } from "#components/overlays/picture-overlay.tsx";
import type { Body } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import { Linked } from "#features/chat/message/message-text.tsx";
import { type ChatPeople, nameOfSender } from "#features/chat/message/senders.ts";
import { formatTime } from "#i18n/format.ts";
import { formatDayHeading } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import type { ChatItem } from "#sync/hooks/use-live-query.ts";
import { ViewerStage } from "./image-viewer-stage.tsx";
import { useAttachment } from "./use-attachment.ts";

type PictureItem = ChatItem & { body: Extract<Body, { type: "image" }> };
const isPicture = (item: ChatItem): item is PictureItem => item.body.type === "image";

type ViewerProps = {
  conversation: ConversationId;
  /** The chat's messages, newest first. */
  items: readonly ChatItem[];
  /** The picture to begin with. */
  startKey: string;
  people: ChatPeople;
  onClose: () => void;
};

type LayerProps = {
  conversation: ConversationId;
  item: PictureItem;
  author: string;
  isFirst: boolean;
  isLast: boolean;
  onTurn: (by: 1 | -1) => void;
  onClose: () => void;
};

function Layer({ conversation, item, author, isFirst, isLast, onTurn, onClose }: LayerProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const { body, at } = item;
  const file = useAttachment(conversation, body);
  const keys = useRef<(key: string) => boolean>(undefined);
  const when = `${formatDayHeading(at, language)}, ${formatTime(at, language)}`;
  const save = file.url && (
    <a href={file.url} download={body.name} title={t("messages.save")} className={`${iconButtonLook} ${overPicture}`}>
      <span className="i-ph-download-simple" aria-hidden="true" />
      <span className="sr-only">{t("messages.save")}</span>
    </a>
  );
  return (
    <PictureLayer
      who={author}
      when={when}
      press={(key) => keys.current?.(key) ?? false}
      actions={save}
      onClose={onClose}
    >
      <div className="relative min-h-0 flex-1">
        <ViewerStage
          key={item.key}
          body={body}
          alt={t("messages.pictureBy", { name: author, when })}
          file={file}
          keys={keys}
          onTurn={onTurn}
          onClose={onClose}
        />
        {!isFirst && (
          <IconButton
            icon="i-ph-caret-left-bold"
            label={t("messages.previousPicture")}
            className="absolute top-1/2 left-2 -translate-y-1/2 bg-black/40 hover:!bg-black/70"
            onClick={() => onTurn(-1)}
          />
        )}
        {!isLast && (
          <IconButton
            icon="i-ph-caret-right-bold"
            label={t("messages.nextPicture")}
            className="absolute top-1/2 right-2 -translate-y-1/2 bg-black/40 hover:!bg-black/70"
            onClick={() => onTurn(1)}
          />
        )}
      </div>
      {body.text && (
        <p
          dir="auto"
          className="z-1 max-h-32 shrink-0 overflow-y-auto bg-black/40 px-4 py-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] text-center whitespace-pre-wrap [overflow-wrap:anywhere]"
        >
          <bdi>
            <Linked text={body.text} />
          </bdi>
        </p>
      )}
    </PictureLayer>
  );
}

/** The chat's pictures over the whole screen, one at a time, in the order they were sent. */
export default function Viewer({ conversation, items, startKey, people, onClose }: ViewerProps) {
  const { t } = useTranslation();
  const [key, setKey] = useState(startKey);
  const pictures = items.filter(isPicture).reverse();
  const index = pictures.findIndex((item) => item.key === key);
  const item = pictures[index];
  const isGone = item === undefined;
  // Deleted by its author while one looks at it.
  useEffect(() => {
    if (isGone) onClose();
  }, [isGone, onClose]);
  if (!item) return null;
  const turn = (by: 1 | -1) => {
    const next = pictures[index + by];
    if (next) setKey(next.key);
  };
  return (
    <PictureModal label={t("messages.viewer")} onClose={onClose}>
      <Layer
        conversation={conversation}
        item={item}
        author={item.mine ? t("messages.you") : nameOfSender(people, item.sender, t)}
        isFirst={index === 0}
        isLast={index === pictures.length - 1}
        onTurn={turn}
        onClose={onClose}
      />
    </PictureModal>
  );
}
