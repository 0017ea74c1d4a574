import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { IconButton } from "#components/controls/icon-button.tsx";
import { useObjectUrl } from "#components/images/use-object-url.ts";
import { attempt } from "#components/overlays/run-with-toast.ts";
import { retryWaiting } from "#sync/feed/feed-commands.ts";
import type { WaitingPost } from "#sync/hooks/use-feed.ts";
import { useLink, useMe } from "#sync/hooks/use-live-query.ts";
import { EntryFrame } from "./entry-frame.tsx";
import { toSmallBox } from "./thumbnail-size.ts";

function WaitingPicture({ blob, picture }: { blob: Blob; picture: NonNullable<WaitingPost["picture"]> }) {
  const { t } = useTranslation();
  const url = useObjectUrl(blob);
  return (
    <span className="block overflow-hidden rounded-card bg-raised" style={toSmallBox(picture)}>
      {url && <img src={url} alt={t("tala.preview")} className="size-full object-cover opacity-75" draggable={false} />}
    </span>
  );
}

type WaitingEntryProps = {
  post: WaitingPost;
  /** It is to be deleted, once that was asked about. */
  onDrop: (article: HTMLElement) => void;
};

/** A status of one's own that is not published yet, or was refused. */
export function WaitingEntry({ post, onDrop }: WaitingEntryProps) {
  const { t } = useTranslation();
  const me = useMe();
  const isOnline = useLink() === "online";
  const { id, state, error, picture, blob } = post;
  const hasFailed = state === "failed";
  const note = hasFailed ? "tala.failed" : isOnline ? "tala.sending" : "tala.waiting";
  const retry = () => attempt(() => retryWaiting(id), { failed: t("tala.publishFailed") });
  return (
    <EntryFrame
      author={me ?? { username: "", avatar: null }}
      note={
        <span className={`inline-flex items-center gap-1 ${hasFailed ? "text-danger" : ""}`}>
          <span
            className={`shrink-0 text-base ${hasFailed ? "i-ph-warning-circle-fill" : "i-ph-clock"}`}
            aria-hidden="true"
          />
          {t(note)}
        </span>
      }
      content={post.content}
      picture={picture && blob && <WaitingPicture blob={blob} picture={picture} />}
      deeds={
        <IconButton
          icon="i-ph-trash"
          label={t("tala.dropWaiting")}
          className="text-muted hover:text-text"
          onClick={({ currentTarget }) => {
            const article = currentTarget.closest("article");
            if (article) onDrop(article);
          }}
        />
      }
    >
      {hasFailed && (
        <div className="mt-2 grid justify-items-start gap-2">
          <p className="text-sm text-danger">{t(`errors.${error ?? "internal"}`)}</p>
          <Button
            look="secondary"
            onClick={({ currentTarget }) => {
              currentTarget.closest("article")?.focus({ preventScroll: true });
              void retry();
            }}
          >
            {t("tala.retry")}
          </Button>
        </div>
      )}
    </EntryFrame>
  );
}
