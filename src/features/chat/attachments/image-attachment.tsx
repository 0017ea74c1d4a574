import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { formatBytes } from "#i18n/format.ts";
import { useLanguage } from "#i18n/setup.ts";
import { isConnectionSlow } from "#lib/browser/network-info.ts";
import { toThumbUrl } from "#lib/media/thumbhash.ts";
import { useLinkState, useUpload } from "#sync/hooks/use-live-query.ts";
import type { AttachmentProps } from "./attachment-props.ts";
import { CancelUploadButton, UploadProgressRing, UploadProgressText } from "./upload-progress.tsx";
import { useAttachment } from "./use-attachment.ts";

const autoLoadMaxBytes = 400_000; // a picture up to this comes by itself

const overImageLook = "bg-black/60 text-white";

/** A picture's bytes while it is in sight: small ones come by themselves, large ones when asked for. */
const useAutoLoadedImage = ({ conversation, body }: AttachmentProps<"image">) => {
  const file = useAttachment(conversation, body);
  const isOnline = useLinkState() === "online";
  const frame = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  const isUnasked = body.size <= autoLoadMaxBytes && !isConnectionSlow();
  useEffect(() => {
    if (!isUnasked || isSeen || !frame.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setSeen(true));
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, [isUnasked, isSeen]);
  const { state, load } = file;
  // Offline nothing is tried; the file says "absent" again when the link is back.
  const isDue = isUnasked && isSeen && isOnline && state === "absent";
  useEffect(() => {
    if (isDue) load();
  }, [isDue, load]);
  return { ...file, frame };
};

/** A picture in its bubble. Its room never changes, so nothing moves when it comes. */
export default function ImageAttachment(props: AttachmentProps<"image">) {
  const { body, item, description, onOpen } = props;
  const { t } = useTranslation();
  const language = useLanguage();
  const { url, state, error, request, frame } = useAutoLoadedImage(props);
  const isGone = state === "failed" && error === "file_not_found";
  const [shownUrl, setShownUrl] = useState<string>();
  const latest = useUpload(item.upload && body.file);
  const upload = item.upload && (latest ?? item.upload);
  const [thumb] = useState(() => toThumbUrl(body.thumb));
  const size = formatBytes(body.size, language);
  const trouble = isGone ? t("messages.gone") : state === "failed" ? t("messages.loadFailed") : undefined;
  return (
    <div ref={frame} className="absolute inset-0">
      {thumb && (!url || shownUrl !== url) && (
        <img src={thumb} alt="" className="absolute inset-0 size-full object-cover" draggable={false} />
      )}
      {url && (
        <button type="button" className="absolute inset-0 -outline-offset-3" onClick={onOpen}>
          <img
            src={url}
            alt={description}
            decoding="async"
            draggable={false}
            className={`size-full object-cover ${shownUrl === url ? "" : "opacity-0"}`}
            onLoad={() => setShownUrl(url)}
          />
        </button>
      )}
      {!url && (
        <button
          type="button"
          aria-label={`${description}. ${trouble ?? `${t("messages.loadPicture")} ${size}`}`}
          className="absolute inset-0 grid place-items-center -outline-offset-3"
          onClick={request}
          disabled={state === "loading" || isGone}
        >
          <span
            className={`inline-flex min-h-12 items-center gap-2 rounded-full px-4 text-sm font-semibold ${overImageLook}`}
          >
            {state === "loading" ? (
              <span className="spinner text-xl" aria-hidden="true" />
            ) : (
              <span
                className={`text-xl ${isGone ? "i-ph-prohibit" : state === "failed" ? "i-ph-arrow-clockwise-bold" : "i-ph-download-simple-bold"}`}
                aria-hidden="true"
              />
            )}
            {trouble ?? size}
          </span>
        </button>
      )}
      {upload && item.cid && (
        <>
          <span className={`absolute top-1/2 left-1/2 -translate-1/2 rounded-full ${overImageLook}`}>
            <UploadProgressRing upload={upload} cid={item.cid} />
          </span>
          <span className={`absolute top-1 right-1 rounded-full ${overImageLook}`}>
            <CancelUploadButton cid={item.cid} />
          </span>
          {/* Between the button beside it and the one below it, however large the text; below that stands the time. */}
          <span
            className={`absolute top-1.5 left-1.5 max-w-[calc(100%-64px)] truncate rounded-full px-2 py-0.5 text-xs leading-tight ${overImageLook}`}
          >
            <UploadProgressText upload={upload} />
          </span>
        </>
      )}
    </div>
  );
}
