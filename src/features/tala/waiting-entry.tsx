import { useState } from "react";
import { attempt } from "../../components/attempt";
import { Button } from "../../components/button";
import { ConfirmDialog } from "../../components/dialog";
import { IconButton } from "../../components/icon-button";
import { useObjectUrl } from "../../components/use-object-url";
import { useT } from "../../i18n/setup";
import { useLink, useMe } from "../../sync/hooks";
import { dropWaiting, retryWaiting } from "../../sync/tala";
import type { WaitingPost } from "../../sync/use-tala";
import { EntryFrame } from "./entry-frame";
import { toSmallBox } from "./small-box";

function WaitingPicture({ blob, picture }: { blob: Blob; picture: NonNullable<WaitingPost["picture"]> }) {
  const t = useT();
  const url = useObjectUrl(blob);
  return (
    <span className="block overflow-hidden rounded-card bg-raised" style={toSmallBox(picture)}>
      {url && <img src={url} alt={t("tala.preview")} className="size-full object-cover opacity-75" draggable={false} />}
    </span>
  );
}

/** A status of one's own that is not published yet, or was refused. */
export function WaitingEntry({ post }: { post: WaitingPost }) {
  const t = useT();
  const me = useMe();
  const isOnline = useLink() === "online";
  const [isAsking, setAsking] = useState(false);
  const { id, state, error, picture, blob } = post;
  const hasFailed = state === "failed";
  const note = hasFailed ? "tala.failed" : isOnline ? "tala.sending" : "tala.waiting";
  const drop = async () => {
    await attempt(() => dropWaiting(id), { done: t("tala.deleted"), failed: t("tala.deleteFailed") });
    setAsking(false);
  };
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
          onClick={() => setAsking(true)}
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
      <ConfirmDialog
        open={isAsking}
        title={t("tala.deleteTitle")}
        body={t("tala.deleteWaitingBody")}
        confirmLabel={t("common.delete")}
        cancelLabel={t("common.cancel")}
        onConfirm={() => void drop()}
        onClose={() => setAsking(false)}
      />
    </EntryFrame>
  );
}
