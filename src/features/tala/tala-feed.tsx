import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { hasAttachmentDraft } from "#sync/actions.ts";
import { useFeed } from "#sync/hooks/use-feed.ts";
import { FeedList } from "./feed-list.tsx";
import { NewPostsButton } from "./new-posts-button.tsx";
import { PostComposer } from "./post-composer.tsx";

/** The feed, and the button that opens the place to write. */
export function TalaFeed() {
  const { t } = useTranslation();
  const feed = useFeed();
  const [isWriting, setWriting] = useState(false);
  const [hasAsked, setAsked] = useState(false);
  const toggle = useRef<HTMLButtonElement>(null);
  const scroller = useRef<HTMLElement>(null);

  // What was begun and not published is where it was left.
  useEffect(() => {
    let isCurrent = true;
    hasAttachmentDraft("tala").then(
      (isBegun) => isCurrent && isBegun && setWriting(true),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, []);

  const close = () => {
    setWriting(false);
    toggle.current?.focus({ preventScroll: true });
  };
  const toTop = () => {
    scroller.current?.scrollTo({ top: 0 });
  };
  const showNewest = () => {
    feed.showNewest();
    toTop();
    scroller.current?.focus({ preventScroll: true });
  };

  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      {isWriting && <PostComposer takesFocus={hasAsked} onSaved={toTop} onClose={close} />}
      <div className="relative flex min-h-0 flex-1 flex-col">
        <NewPostsButton view={feed.view} onShow={showNewest} />
        <FeedList ref={scroller} feed={feed} />
      </div>
      <button
        ref={toggle}
        type="button"
        data-page-end
        aria-expanded={isWriting}
        aria-label={t(isWriting ? "tala.closeComposer" : "tala.write")}
        title={t(isWriting ? "tala.closeComposer" : "tala.write")}
        className="absolute right-4 bottom-4 z-2 grid size-14 place-items-center rounded-full bg-accent text-[26px] text-on-accent shadow-lg hover:bg-accent-hover"
        onClick={() => {
          setAsked(true);
          if (isWriting) close();
          else setWriting(true);
        }}
      >
        <span className={isWriting ? "i-ph-x-bold" : "i-ph-pencil-simple-line-bold"} aria-hidden="true" />
      </button>
    </div>
  );
}
