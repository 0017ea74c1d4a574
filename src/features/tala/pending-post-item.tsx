import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { IconButton } from "#components/controls/icon-button.tsx";
import { useObjectUrl } from "#components/images/use-object-url.ts";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { retryPendingPost } from "#sync/actions/posts.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";
import type { PendingPost } from "#sync/hooks/use-feed.ts";
import { useOwnProfile } from "#sync/hooks/use-people.ts";
import { AudienceNote } from "./audience-note.tsx";
import { PostLayout } from "./post-layout.tsx";
import { toThumbnailSize } from "./post-thumbnail.tsx";

function PendingPostPicture({ blob, picture }: { blob: Blob; picture: NonNullable<PendingPost["picture"]> }) {
  const { t } = useTranslation();
  const url = useObjectUrl(blob);
  return (
    <span className="block overflow-hidden rounded-card bg-raised" style={toThumbnailSize(picture)}>
      {url && <img src={url} alt={t("tala.preview")} className="size-full object-cover opacity-75" draggable={false} />}
    </span>
  );
}

type PendingPostItemProps = {
  post: PendingPost;
  /** Called when the user asks to delete the post; the caller shows the confirmation. */
  onDiscard: (article: HTMLElement) => void;
};

/** Own post that is not published yet, or was refused. */
export function PendingPostItem({ post, onDiscard }: PendingPostItemProps) {
  const { t } = useTranslation();
  const me = useOwnProfile();
  const isOnline = useLinkState() === "online";
  const { id, state, error, picture, blob } = post;
  const hasFailed = state === "failed";
  const note = hasFailed ? "tala.failed" : isOnline ? "tala.sending" : "tala.waiting";
  const retry = () => runWithToast(() => retryPendingPost(id), { failed: t("tala.publishFailed") });
  return (
    <PostLayout
      author={me ?? { username: "", avatar: null }}
      note={
        <span className={`inline-flex items-center gap-1 ${hasFailed ? "text-danger" : ""}`}>
          <span
            className={`shrink-0 text-base ${hasFailed ? "i-ph-warning-circle-fill" : "i-ph-clock"}`}
            aria-hidden="true"
          />
          {t(note)}
          <AudienceNote audience={post.audience} />
        </span>
      }
      content={post.content}
      picture={picture && blob && <PendingPostPicture blob={blob} picture={picture} />}
      actions={
        <IconButton
          icon="i-ph-trash"
          label={t("tala.dropWaiting")}
          className="text-muted hover:text-text"
          onClick={({ currentTarget }) => {
            const article = currentTarget.closest("article");
            if (article) onDiscard(article);
          }}
        />
      }
    >
      {hasFailed && (
        <div className="mt-2 grid justify-items-start gap-2">
          <p className="text-sm text-danger">{t(`errors.${error ?? "internal"}`)}</p>
          <Button
            variant="secondary"
            onClick={({ currentTarget }) => {
              currentTarget.closest("article")?.focus({ preventScroll: true });
              void retry();
            }}
          >
            {t("tala.retry")}
          </Button>
        </div>
      )}
    </PostLayout>
  );
}
