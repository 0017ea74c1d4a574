import { useTranslation } from "react-i18next";
import type { UseFeedResult } from "#sync/hooks/use-feed.ts";

/**
 * Button with the number of new posts. It floats over the feed, so that the posts do not move, at the bottom beside the
 * composer button, where it does not cover the author names.
 */
export function NewPostsButton({ view, onShow }: { view: UseFeedResult["view"]; onShow: () => void }) {
  const { t } = useTranslation();
  const count = view?.newer ?? 0;
  return (
    <div
      role="status"
      className="pointer-events-none absolute right-20 bottom-4 left-0 z-2 flex min-h-14 items-center justify-center pl-4"
    >
      {count > 0 && (
        <button
          type="button"
          className="pointer-events-auto inline-flex min-h-12 items-center gap-2 rounded-full bg-accent px-5 font-semibold text-on-accent shadow-lg hover:bg-accent-hover"
          onClick={onShow}
        >
          <span className="i-ph-arrow-up-bold" aria-hidden="true" />
          {view?.hasMoreNewer ? t("tala.newerMany", { count }) : t("tala.newer", { count })}
        </button>
      )}
    </div>
  );
}
