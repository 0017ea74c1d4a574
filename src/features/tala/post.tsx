import { memo, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { attempt } from "#components/overlays/run-with-toast.ts";
import { useFormat } from "#i18n/format.ts";
import { useSession } from "#lib/session/session.ts";
import { isolate } from "#lib/text/bidi.ts";
import { deletePost } from "#sync/feed/feed-commands.ts";
import type { FeedRow } from "#sync/hooks/use-feed.ts";
import { EntryFrame } from "./entry-frame.tsx";
import { PostPicture } from "./post-picture.tsx";

/** Asks, and deletes it for everybody. */
function Deletion({ post, date }: { post: FeedRow; date: string }) {
  const { t } = useTranslation();
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    await attempt(() => deletePost(post.id), { done: t("tala.deleted"), failed: t("tala.deleteFailed") });
    setBusy(false);
    setAsking(false);
  };
  return (
    <>
      <IconButton
        icon="i-ph-trash"
        label={t("tala.delete", { date })}
        className="text-muted hover:text-text"
        onClick={() => setAsking(true)}
      />
      <ConfirmDialog
        open={isAsking}
        title={t("tala.deleteTitle")}
        body={t("tala.deleteBody")}
        confirmLabel={t("common.delete")}
        cancelLabel={t("common.cancel")}
        busy={isBusy}
        onConfirm={() => void confirm()}
        onClose={() => setAsking(false)}
      />
    </>
  );
}

/** A published status. */
export const Post = memo(function Post({ post }: { post: FeedRow }) {
  const { t } = useTranslation();
  const format = useFormat();
  const me = useSession()?.userId;
  const { at, picture, username } = post;
  const date = format.date(at);
  return (
    <EntryFrame
      author={post}
      note={
        <time dateTime={new Date(at).toISOString()} title={`${date} ${format.time(at)}`}>
          {date}
        </time>
      }
      content={post.content}
      picture={
        picture && (
          <PostPicture post={post} picture={picture} name={isolate(username || t("common.user"))} date={date} />
        )
      }
      deeds={post.author === me && <Deletion post={post} date={date} />}
    />
  );
});
