import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { hasAttachmentDraft } from "#sync/actions/drafts.ts";
import { useFeed } from "#sync/hooks/use-feed.ts";
import { FeedList } from "./feed-list.tsx";
import { NewPostsButton } from "./new-posts-button.tsx";
import { PostComposer } from "./post-composer.tsx";

/** Feed of posts with the button that opens the composer. */
export function TalaFeed() {
  const { t } = useTranslation();
  const feed = useFeed();
  const [isComposerOpen, setComposerOpen] = useState(false);
  const [isOpenedByUser, setOpenedByUser] = useState(false);
  const composerButton = useRef<HTMLButtonElement>(null);
  const scroller = useRef<HTMLElement>(null);

  // Opens the composer if an unpublished draft exists.
  useEffect(() => {
    let isCurrent = true;
    hasAttachmentDraft("tala").then(
      (hasDraft) => isCurrent && hasDraft && setComposerOpen(true),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, []);

  const close = () => {
    setComposerOpen(false);
    composerButton.current?.focus({ preventScroll: true });
  };
  const scrollToTop = () => {
    scroller.current?.scrollTo({ top: 0 });
  };
  const showNewest = () => {
    feed.showNewest();
    scrollToTop();
    scroller.current?.focus({ preventScroll: true });
  };

  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      {isComposerOpen && <PostComposer takesFocus={isOpenedByUser} onSaved={scrollToTop} onClose={close} />}
      <div className="relative flex min-h-0 flex-1 flex-col">
        <NewPostsButton view={feed.view} onShow={showNewest} />
        <FeedList ref={scroller} feed={feed} />
      </div>
      <button
        ref={composerButton}
        type="button"
        data-page-end
        aria-expanded={isComposerOpen}
        aria-label={t(isComposerOpen ? "tala.closeComposer" : "tala.write")}
        title={t(isComposerOpen ? "tala.closeComposer" : "tala.write")}
        className="absolute right-4 bottom-4 z-2 grid size-14 place-items-center rounded-full bg-accent text-[26px] text-on-accent shadow-lg hover:bg-accent-hover"
        onClick={() => {
          setOpenedByUser(true);
          if (isComposerOpen) close();
          else setComposerOpen(true);
        }}
      >
        <span className={isComposerOpen ? "i-ph-x-bold" : "i-ph-pencil-simple-line-bold"} aria-hidden="true" />
      </button>
    </div>
  );
}
