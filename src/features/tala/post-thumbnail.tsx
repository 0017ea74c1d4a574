import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ProtectedImage } from "#components/images/protected-image.tsx";
import { toThumbUrl } from "#lib/media/thumbhash.ts";
import { type FeedPost, postPictureUrl } from "#sync/hooks/use-feed.ts";
import { useLinkState } from "#sync/hooks/use-live-query.ts";
import { PostImageViewer } from "./post-image-viewer.tsx";
import { toThumbnailSize } from "./thumbnail-size.ts";

type PostThumbnailProps = { post: FeedPost; picture: NonNullable<FeedPost["picture"]>; name: string; date: string };

/** A status's picture, small; a tap shows it large. What the thumbhash tells stands in its place until it is here. */
export function PostThumbnail({ post, picture, name, date }: PostThumbnailProps) {
  const { t } = useTranslation();
  const link = useLinkState();
  const [thumb] = useState(() => toThumbUrl(picture.thumb));
  const [isHere, setHere] = useState(false);
  const [isLarge, setLarge] = useState(false);
  const box = toThumbnailSize(picture);
  return (
    <>
      <button
        type="button"
        aria-label={t("tala.enlarge", { name })}
        aria-haspopup="dialog"
        className="grid min-h-12 min-w-12 items-center justify-items-start rounded-card"
        onClick={() => setLarge(true)}
      >
        <span
          // The picture is exchanged as it comes: a tap meanwhile is the button's.
          className="pointer-events-none relative block overflow-hidden rounded-card bg-raised bg-cover"
          style={{ ...box, backgroundImage: thumb && !isHere ? `url(${thumb})` : undefined }}
        >
          <ProtectedImage
            key={isHere ? "here" : link} // what could not be had is asked for again when the link is back
            src={postPictureUrl(post, "small")}
            alt=""
            {...box}
            loading="lazy"
            decoding="async"
            draggable={false}
            className={`absolute inset-0 size-full object-cover ${isHere ? "" : "opacity-0"}`}
            onLoad={() => setHere(true)}
          />
        </span>
      </button>
      {isLarge && (
        <PostImageViewer
          path={postPictureUrl(post, "large")}
          placeholder={isHere ? postPictureUrl(post, "small") : thumb}
          size={picture}
          name={name}
          date={date}
          onClose={() => setLarge(false)}
        />
      )}
    </>
  );
}
