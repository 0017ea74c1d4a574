import { type RefObject, useEffect, useEffectEvent, useImperativeHandle, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton, iconButtonClasses } from "#components/controls/icon-button.tsx";
import {
  PictureLoadError,
  PictureModal,
  PictureOverlay,
  pictureButtonClasses,
  ZoomablePicture,
} from "#components/overlays/picture-overlay.tsx";
import { usePanZoom } from "#components/overlays/use-pan-zoom.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { Body } from "#contract/messages/body.ts";
import { FormattedMessageText } from "#features/chat/message/message-text.tsx";
import { type ChatPeople, getSenderName } from "#features/chat/message/senders.ts";
import { formatTime } from "#i18n/format.ts";
import { formatBytes } from "#i18n/format-bytes.ts";
import { formatDayHeading } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { toThumbUrl } from "#lib/media/thumbhash.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { type Attachment, useAttachment } from "./use-attachment.ts";

type ImageItem = ChatItem & { body: Extract<Body, { type: "image" }> };
const isImageItem = (item: ChatItem): item is ImageItem => item.body.type === "image";

type ImageViewerProps = {
  conversation: ConversationId;
  /** The chat's messages, newest first. */
  items: readonly ChatItem[];
  /** Key of the image that is opened first. */
  startKey: string;
  people: ChatPeople;
  /** Shows a message in the chat, if the viewer was opened elsewhere. */
  onShowMessage?: (seq: number) => void;
  onClose: () => void;
};

type ImageViewerStageProps = {
  body: Extract<Body, { type: "image" }>;
  alt: string;
  file: Attachment;
  /** Receives the key handler of this image. */
  keyHandler: RefObject<((key: string) => boolean) | null>;
  onStep: (by: 1 | -1) => void;
  onClose: () => void;
};

/** Zoomable image; its thumbhash is shown until it is loaded. */
function ImageViewerStage({ body, alt, file, keyHandler, onStep, onClose }: ImageViewerStageProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const { url, state, load, isUnreachable } = file;
  const [thumb] = useState(() => toThumbUrl(body.thumb));
  const frame = useRef<HTMLDivElement>(null);
  const zoom = usePanZoom(body, frame, { onTurn: onStep, onClose });
  useImperativeHandle(keyHandler, () => zoom.press);
  const isMissing = state === "absent" && !isUnreachable;
  const loadMissing = useEffectEvent(load);
  useEffect(() => {
    if (isMissing) loadMissing();
  }, [isMissing]);
  const loadingNotice = (
    <p role="status" className="flex items-center gap-2 rounded-full bg-black/60 px-4 py-2 text-sm">
      <span className="spinner text-xl" aria-hidden="true" />
      {formatBytes(body.size, language)}
      <span className="sr-only">{t("common.loading")}</span>
    </p>
  );
  const failureNotice = <PictureLoadError text={t("messages.photoFailed")} onRetry={load} />;
  return (
    <ZoomablePicture
      frameRef={frame}
      zoom={zoom}
      overlay={url ? null : state === "failed" || isUnreachable ? failureNotice : loadingNotice}
    >
      <img
        src={url ?? thumb}
        alt={alt}
        draggable={false}
        data-scale={zoom.pose.scale}
        className={`absolute inset-0 m-auto max-h-full max-w-full ${url ? "" : "size-full object-contain blur-sm"}`}
      />
    </ZoomablePicture>
  );
}

type ImageViewerPageProps = {
  conversation: ConversationId;
  item: ImageItem;
  author: string;
  isFirst: boolean;
  isLast: boolean;
  onStep: (by: 1 | -1) => void;
  onShowMessage: ((seq: number) => void) | undefined;
  onClose: () => void;
};

function ImageViewerPage({ conversation, item, author, isFirst, isLast, ...actions }: ImageViewerPageProps) {
  const { onStep, onShowMessage, onClose } = actions;
  const { t } = useTranslation();
  const language = useLanguage();
  const { body, at } = item;
  const file = useAttachment(conversation, body);
  const keys = useRef<(key: string) => boolean>(null);
  const when = `${formatDayHeading(at, language)}, ${formatTime(at, language)}`;
  const save = file.url && (
    <a
      href={file.url}
      download={body.name}
      title={t("messages.save")}
      className={`${iconButtonClasses} ${pictureButtonClasses}`}
    >
      <span className="i-ph-download-simple" aria-hidden="true" />
      <span className="sr-only">{t("messages.save")}</span>
    </a>
  );
  return (
    <PictureOverlay
      ownerName={author}
      dateText={when}
      handleKey={(key) => keys.current?.(key) ?? false}
      actions={
        <>
          {onShowMessage && item.seq !== undefined && (
            <IconButton
              icon="i-ph-chat-circle-text"
              label={t("gallery.show")}
              className={pictureButtonClasses}
              onClick={() => item.seq !== undefined && onShowMessage(item.seq)}
            />
          )}
          {save}
        </>
      }
      onClose={onClose}
    >
      <div className="relative min-h-0 flex-1">
        <ImageViewerStage
          key={item.key}
          body={body}
          alt={t("messages.pictureBy", { name: author, when })}
          file={file}
          keyHandler={keys}
          onStep={onStep}
          onClose={onClose}
        />
        {!isFirst && (
          <IconButton
            icon="i-ph-caret-left-bold"
            label={t("messages.previousPicture")}
            className="absolute top-1/2 left-2 [transform:translateY(-50%)] bg-black/40 hover:!bg-black/70"
            onClick={() => onStep(-1)}
          />
        )}
        {!isLast && (
          <IconButton
            icon="i-ph-caret-right-bold"
            label={t("messages.nextPicture")}
            className="absolute top-1/2 right-2 [transform:translateY(-50%)] bg-black/40 hover:!bg-black/70"
            onClick={() => onStep(1)}
          />
        )}
      </div>
      {body.text && (
        <p className="z-1 max-h-32 shrink-0 overflow-y-auto bg-black/40 px-4 py-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] text-center whitespace-pre-wrap [unicode-bidi:plaintext] [overflow-wrap:anywhere]">
          <FormattedMessageText text={body.text} />
        </p>
      )}
    </PictureOverlay>
  );
}

/** Full-screen viewer of the images in a chat, one at a time, in the order they were sent. */
export default function ImageViewer({ conversation, items, startKey, people, ...props }: ImageViewerProps) {
  const { onShowMessage, onClose } = props;
  const { t } = useTranslation();
  const [key, setKey] = useState(startKey);
  const images = items.filter(isImageItem).reverse();
  const index = images.findIndex((item) => item.key === key);
  const item = images[index];
  const isDeleted = item === undefined;
  // The sender deleted the message while it was open.
  useEffect(() => {
    if (isDeleted) onClose();
  }, [isDeleted, onClose]);
  if (!item) return null;
  const step = (by: 1 | -1) => {
    const next = images[index + by];
    if (next) setKey(next.key);
  };
  return (
    <PictureModal label={t("messages.viewer")} onClose={onClose}>
      <ImageViewerPage
        conversation={conversation}
        item={item}
        author={item.mine ? t("messages.you") : getSenderName(people, item.sender, t)}
        isFirst={index === 0}
        isLast={index === images.length - 1}
        onStep={step}
        onShowMessage={onShowMessage}
        onClose={onClose}
      />
    </PictureModal>
  );
}
