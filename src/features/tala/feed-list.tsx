import { type Ref, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { Uuid } from "#contract/ids.ts";
import { t } from "#i18n/setup.ts";
import type { UseFeedResult } from "#sync/hooks/use-feed.ts";
import { DiscardPostDialog } from "./discard-post-dialog.tsx";
import { PendingPostItem } from "./pending-post-item.tsx";
import { PostItem } from "./post-item.tsx";
import { type FocusTarget, toListFocusTarget, toNeighbourFocusTarget, useFocusHandoff } from "./use-focus-handoff.ts";
import { useOlderPosts } from "./use-older-posts.ts";

const showFeedFailure = (): void =>
  showToast({ tone: "danger", title: t("common.error"), message: t("errors.internal") });

/** Shown if the feed could not be loaded, with a retry button. */
function FeedLoadFailure({ isOffline, refresh }: { isOffline: boolean; refresh: UseFeedResult["refresh"] }) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const container = useRef<HTMLDivElement>(null);
  useFocusHandoff(container, toListFocusTarget);
  const retry = async () => {
    setBusy(true);
    const { at } = await refresh();
    setBusy(false);
    if (at === "failed") showFeedFailure();
  };
  return (
    <div ref={container} className="my-auto">
      <EmptyState
        icon="i-ph-cloud-slash"
        title={t("tala.loadFailedTitle")}
        body={t(isOffline ? "tala.loadFailedOffline" : "tala.loadFailedBody")}
        action={
          <Button busy={isBusy} onClick={() => void retry()}>
            {t("common.retry")}
          </Button>
        }
      />
    </div>
  );
}

/** Content of a feed without stored posts: empty, loading or failed. */
function EmptyFeed({ status, refresh }: Pick<UseFeedResult, "status" | "refresh">) {
  const { t } = useTranslation();
  if (status.at === "looking")
    return (
      <div className="late m-auto text-accent">
        <Spinner label={t("common.loading")} className="text-4xl" />
      </div>
    );
  if (status.at === "seen")
    return (
      <div className="my-auto">
        <EmptyState icon="i-ph-eye" title={t("tala.emptyTitle")} body={t("tala.emptyBody")} />
      </div>
    );
  return <FeedLoadFailure isOffline={status.code === "offline"} refresh={refresh} />;
}

/**
 * Shows one toast per failure to refresh the feed (SPEC.md §8); stored posts stay visible. Offline, the connection
 * banner says it.
 */
const useFeedFailureToast = (status: UseFeedResult["status"]): void => {
  const code = status.at === "failed" ? status.code : undefined;
  useEffect(() => {
    if (code !== undefined && code !== "offline") showFeedFailure();
  }, [code]);
};

/** Shown if older posts could not be loaded. */
function OlderPostsFailure({ onRetry }: { onRetry: () => void }) {
  const { t } = useTranslation();
  const container = useRef<HTMLDivElement>(null);
  useFocusHandoff(container, toListFocusTarget);
  return (
    <div ref={container} className="grid justify-items-center gap-2">
      <p role="alert">{t("tala.olderFailed")}</p>
      <Button variant="secondary" onClick={onRetry}>
        {t("common.retry")}
      </Button>
    </div>
  );
}

/** End of the list: spinner or retry while older posts exist, otherwise an end note. */
function FeedEnd({ feed }: { feed: UseFeedResult }) {
  const { t } = useTranslation();
  const end = useRef<HTMLDivElement>(null);
  const { hasFailed, load } = useOlderPosts(end, feed);
  const hasOlder = feed.view?.older !== undefined;
  return (
    <div ref={end} className="grid min-h-16 place-items-center p-4 text-center text-sm text-muted">
      {!hasOlder ? (
        <p>{t("tala.end")}</p>
      ) : hasFailed ? (
        <OlderPostsFailure onRetry={load} />
      ) : (
        <Spinner label={t("tala.loadingOlder")} className="text-2xl text-accent" />
      )}
    </div>
  );
}

type FeedListProps = { ref: Ref<HTMLElement>; feed: UseFeedResult };

/** Pending posts, then published posts, newest first. */
export function FeedList({ ref, feed }: FeedListProps) {
  const { t } = useTranslation();
  const { view, pending = [], status, refresh, startReading } = feed;
  useFeedFailureToast(status);
  const posts = view?.posts ?? [];
  const [postToDiscard, setPostToDiscard] = useState<{ id: Uuid; focusTarget: FocusTarget }>();
  const isEmpty = posts.length + pending.length === 0;
  return (
    <section
      ref={ref}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a focusable container can be scrolled by keyboard
      tabIndex={0}
      data-scroller
      aria-label={t("tala.list")}
      className="relative flex min-h-0 flex-1 flex-col overflow-y-auto overscroll-contain -outline-offset-3"
      onScroll={({ currentTarget }) => {
        if (currentTarget.scrollTop > 0) startReading();
      }}
      onPointerDown={startReading}
      onFocus={startReading}
    >
      {isEmpty ? (
        view && <EmptyFeed status={status} refresh={refresh} />
      ) : (
        <>
          <ul className="divide-y divide-line border-b border-line bg-surface">
            {pending.map((post) => (
              <li key={post.id} data-post={post.id}>
                <PendingPostItem
                  post={post}
                  onDiscard={(article) =>
                    setPostToDiscard({ id: post.id, focusTarget: toNeighbourFocusTarget(article) })
                  }
                />
              </li>
            ))}
            {posts.map((post) => (
              <li
                key={post.number} // another person may reuse the id of a status for contacts
                data-post={post.id}
                className="[contain-intrinsic-size:auto_96px] [content-visibility:auto]"
              >
                <PostItem post={post} />
              </li>
            ))}
          </ul>
          {posts.length > 0 && <FeedEnd feed={feed} />}
          {/* Space for the floating button, so that it does not cover the last post. */}
          <div className="h-20 shrink-0" />
        </>
      )}
      {postToDiscard && (
        <DiscardPostDialog
          {...postToDiscard}
          isPending={pending.some(({ id }) => id === postToDiscard.id)}
          onClose={() => setPostToDiscard(undefined)}
        />
      )}
    </section>
  );
}
