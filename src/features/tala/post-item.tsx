import { memo, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { useFormat } from "#i18n/use-format.ts";
import { useSession } from "#lib/session/use-session.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { deletePublishedPost } from "#sync/actions/posts.ts";
import type { FeedPost } from "#sync/hooks/use-feed.ts";
import { AudienceNote } from "./audience-note.tsx";
import { PostLayout } from "./post-layout.tsx";
import { PostThumbnail } from "./post-thumbnail.tsx";

/** Deletes an own post for everybody after a confirmation. */
function DeletePostButton({ post, date }: { post: FeedPost; date: string }) {
  const { t } = useTranslation();
  const [isConfirming, setConfirming] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    await runWithToast(() => deletePublishedPost(post.id), {
      announced: t("tala.deleted"),
      failed: t("tala.deleteFailed"),
    });
    setBusy(false);
    setConfirming(false);
  };
  return (
    <>
      <IconButton
        icon="i-ph-trash"
        label={t("tala.delete", { date })}
        className="text-muted hover:text-text"
        onClick={() => setConfirming(true)}
      />
      <ConfirmDialog
        open={isConfirming}
        title={t("tala.deleteTitle")}
        body={t("tala.deleteBody")}
        confirmLabel={t("common.delete")}
        cancelLabel={t("common.cancel")}
        busy={isBusy}
        onConfirm={() => void confirm()}
        onClose={() => setConfirming(false)}
      />
    </>
  );
}

/** Published post. */
export const PostItem = memo(function Post({ post }: { post: FeedPost }) {
  const { t } = useTranslation();
  const format = useFormat();
  const me = useSession()?.userId;
  const { at, picture, username } = post;
  const date = format.date(at);
  return (
    <PostLayout
      author={post}
      note={
        <span className="inline-flex flex-wrap items-center gap-x-1">
          <time dateTime={new Date(at).toISOString()} title={`${date} ${format.time(at)}`}>
            {date}
          </time>
          <AudienceNote audience={post.audience} />
        </span>
      }
      content={post.content}
      picture={
        picture && (
          <PostThumbnail post={post} picture={picture} name={isolateBidi(username || t("common.user"))} date={date} />
        )
      }
      actions={post.author === me && <DeletePostButton post={post} date={date} />}
    />
  );
});
