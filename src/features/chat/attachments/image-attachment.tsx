import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { formatBytes } from "#i18n/format-bytes.ts";
import { useLanguage } from "#i18n/setup.ts";
import { isConnectionSlow } from "#lib/browser/network-info.ts";
import { toThumbUrl } from "#lib/media/thumbhash.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";
import { useUpload } from "#sync/hooks/use-files.ts";
import { CancelUploadButton, UploadProgressRing, UploadProgressText } from "./upload-progress.tsx";
import { type AttachmentProps, useAttachment } from "./use-attachment.ts";

const autoLoadMaxBytes = 400_000; // images up to this size load without a tap

const overImageClasses = "bg-black/60 text-white";

/** Image file of a bubble: a small one loads when it becomes visible, a large one on a tap. */
const useAutoLoadedImage = ({ conversation, body }: AttachmentProps<"image">) => {
  const file = useAttachment(conversation, body);
  const isOnline = useLinkState() === "online";
  const frame = useRef<HTMLDivElement>(null);
  const [isVisible, setVisible] = useState(false);
  const loadsAutomatically = body.size <= autoLoadMaxBytes && !isConnectionSlow();
  useEffect(() => {
    if (!loadsAutomatically || isVisible || !frame.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setVisible(true));
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, [loadsAutomatically, isVisible]);
  const { state, load } = file;
  // Not attempted offline; the state returns to "absent" when the connection is back.
  const shouldLoad = loadsAutomatically && isVisible && isOnline && state === "absent";
  useEffect(() => {
    if (shouldLoad) load();
  }, [shouldLoad, load]);
  return { ...file, frame };
};

/** Image of a bubble. Its size is fixed, so that nothing moves when it loads. */
export default function ImageAttachment(props: AttachmentProps<"image">) {
  const { body, item, description, onOpen, onDelete } = props;
  const { t } = useTranslation();
  const language = useLanguage();
  const { url, state, error, request, frame } = useAutoLoadedImage(props);
  const isGone = state === "failed" && error === "file_not_found";
  const [loadedUrl, setLoadedUrl] = useState<string>();
  const liveUpload = useUpload(item.upload && body.file);
  const upload = item.upload && (liveUpload ?? item.upload);
  const [thumb] = useState(() => toThumbUrl(body.thumb));
  const size = formatBytes(body.size, language);
  const errorText = isGone ? t("messages.gone") : state === "failed" ? t("messages.loadFailed") : undefined;
  return (
    <div ref={frame} className="absolute inset-0">
      {thumb && (!url || loadedUrl !== url) && (
        <img src={thumb} alt="" className="absolute inset-0 size-full object-cover" draggable={false} />
      )}
      {url && (
        <button type="button" className="absolute inset-0 -outline-offset-3" onClick={onOpen}>
          <img
            src={url}
            alt={description}
            decoding="async"
            draggable={false}
            className={`size-full object-cover ${loadedUrl === url ? "" : "opacity-0"}`}
            onLoad={() => setLoadedUrl(url)}
          />
        </button>
      )}
      {!url && (
        <button
          type="button"
          aria-label={`${description}. ${errorText ?? `${t("messages.loadPicture")} ${size}`}`}
          className="absolute inset-0 grid place-items-center -outline-offset-3"
          onClick={request}
          disabled={state === "loading" || isGone}
        >
          <span
            className={`inline-flex min-h-12 items-center gap-2 rounded-full px-4 text-sm font-semibold ${overImageClasses}`}
          >
            {state === "loading" ? (
              <span className="spinner text-xl" aria-hidden="true" />
            ) : (
              <span
                className={`text-xl ${isGone ? "i-ph-prohibit" : state === "failed" ? "i-ph-arrow-clockwise-bold" : "i-ph-download-simple-bold"}`}
                aria-hidden="true"
              />
            )}
            {errorText ?? size}
          </span>
        </button>
      )}
      {upload && item.cid && (
        <>
          <span
            className={`absolute top-1/2 left-1/2 [transform:translate(-50%,-50%)] rounded-full ${overImageClasses}`}
          >
            <UploadProgressRing upload={upload} cid={item.cid} />
          </span>
          <span className={`absolute top-1 right-1 rounded-full ${overImageClasses}`}>
            <CancelUploadButton onCancel={onDelete} />
          </span>
          {/* Fits between the upload button and the cancel button at any text size; the time stands below. */}
          <span
            className={`absolute top-1.5 left-1.5 max-w-[calc(100%-64px)] truncate rounded-full px-2 py-0.5 text-xs leading-tight ${overImageClasses}`}
          >
            <UploadProgressText upload={upload} />
          </span>
        </>
      )}
    </div>
  );
}
