import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ProtectedImage } from "#components/images/protected-image.tsx";
import { toThumbUrl } from "#lib/media/thumbhash.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";
import { type FeedPost, postPictureUrl } from "#sync/hooks/use-feed.ts";
import { PostImageViewer } from "./post-image-viewer.tsx";

/** Maximum side of a picture in the feed (SPEC.md §9). */
const thumbnailMaxPx = 100;

/** Display size of a picture in the feed, reserved before it is loaded to avoid layout shifts. */
export const toThumbnailSize = ({
  width,
  height,
}: {
  width: number;
  height: number;
}): { width: number; height: number } => {
  const scale = Math.min(1, thumbnailMaxPx / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
};

type PostThumbnailProps = { post: FeedPost; picture: NonNullable<FeedPost["picture"]>; name: string; date: string };

/** Thumbnail of a post's picture; a tap opens the viewer. The thumbhash preview is shown until it is loaded. */
export function PostThumbnail({ post, picture, name, date }: PostThumbnailProps) {
  const { t } = useTranslation();
  const link = useLinkState();
  const [thumb] = useState(() => toThumbUrl(picture.thumb));
  const [isLoaded, setLoaded] = useState(false);
  const [isViewerOpen, setViewerOpen] = useState(false);
  const box = toThumbnailSize(picture);
  return (
    <>
      <button
        type="button"
        aria-label={t("tala.enlarge", { name })}
        aria-haspopup="dialog"
        className="grid min-h-12 min-w-12 items-center justify-items-start rounded-card"
        onClick={() => setViewerOpen(true)}
      >
        <span
          // The image element is replaced when loaded: pointer events go to the button.
          className="pointer-events-none relative block overflow-hidden rounded-card bg-raised bg-cover"
          style={{ ...box, backgroundImage: thumb && !isLoaded ? `url(${thumb})` : undefined }}
        >
          <ProtectedImage
            key={isLoaded ? "here" : link} // retries a failed image when the connection is back
            src={postPictureUrl(post, "small")}
            alt=""
            {...box}
            loading="lazy"
            decoding="async"
            draggable={false}
            className={`absolute inset-0 size-full object-cover ${isLoaded ? "" : "opacity-0"}`}
            onLoad={() => setLoaded(true)}
          />
        </span>
      </button>
      {isViewerOpen && (
        <PostImageViewer
          path={postPictureUrl(post, "large")}
          placeholder={isLoaded ? postPictureUrl(post, "small") : thumb}
          size={picture}
          name={name}
          date={date}
          onClose={() => setViewerOpen(false)}
        />
      )}
    </>
  );
}
