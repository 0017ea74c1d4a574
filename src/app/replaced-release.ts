import { inCall } from "#calls/call-state.ts";
import { offerCurrentRelease } from "#components/overlays/load-with-toast.ts";
import { isPageActive } from "#lib/browser/page/page-activity.ts";
import { isRecording } from "#lib/media/recording-count.ts";

const checkMs = 3_000;
/** In `sessionStorage`: the release from which this tab was reloaded. */
const reloadedKey = "reloaded-release";

/** Path of the script that starts this page, different in every release. */
const findRelease = (): string | null =>
  document.querySelector("script[type=module][src]")?.getAttribute("src") ?? null;

/** Whether the server serves another release than that of this page. Rejects without a network. */
const isReplaced = async (release: string): Promise<boolean> => {
  const response = await fetch("/app", { cache: "no-store" });
  return response.ok && !(await response.text()).includes(release);
};

/** Whether a field contains something that is stored nowhere. `data-kept` marks fields whose text is a stored draft. */
const hasUnstoredText = (): boolean =>
  [
    ...document.querySelectorAll<HTMLInputElement>("input:not([type=checkbox],[type=radio]),textarea:not([data-kept])"),
  ].some(({ value }) => value !== "");

/** Whether nobody notices a reload: the page is put aside, or has nothing to show. */
const isUnused = (): boolean =>
  !isPageActive() || document.visibilityState === "hidden" || document.querySelector("[data-missing-screen]") !== null;

const reloadWhenUnused = async (): Promise<void> => {
  const release = findRelease();
  if (release === null || sessionStorage.getItem(reloadedKey) === release || !(await isReplaced(release))) return;
  sessionStorage.setItem(reloadedKey, release); // a page that is served from an old copy is reloaded only once
  offerCurrentRelease();
  const timer = setInterval(() => {
    if (!isUnused() || inCall.get() || isRecording() || hasUnstoredText()) return;
    clearInterval(timer);
    location.reload();
  }, checkMs);
};

/**
 * Reloads a page of an earlier release once a part of its code cannot be loaded because the server has only the files of
 * the current one. A service worker keeps them; this is for a page without one. It waits until the page is unused, there
 * is neither a call nor a recording, and every text in a field is stored.
 */
export const watchReplacedRelease = (): void => {
  let isComparing = false; // several parts may fail at the same moment
  addEventListener("vite:preloadError", async () => {
    if (isComparing) return;
    isComparing = true;
    await reloadWhenUnused().catch(() => undefined);
    isComparing = false;
  });
};
