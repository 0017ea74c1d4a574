type LoadWithRetry = <T>(load: () => Promise<T>) => Promise<T>;

/**
 * Loads what the page cannot start without: after a failure it shows the notice that every document contains
 * (index.html, `src/prerender`), and tries again until it succeeds.
 *
 * It reloads the page if the server answers and the code still cannot be loaded: the release was replaced, or the
 * browser remembers the modules that it could not fetch once, as Chromium did until 2026. This happens only when the
 * page is older than a moment and no reload itself, nobody is in a field, and every text that was typed is stored
 * (`data-kept` of its field).
 *
 * The source text of this function is part of an inline script, so it uses nothing from any module.
 */
export const inlineLoadWithRetry: LoadWithRetry = async <T>(load: () => Promise<T>): Promise<T> => {
  const notice = document.getElementById("unloaded");
  for (;;) {
    try {
      const loaded = await load();
      notice?.toggleAttribute("hidden", true);
      return loaded;
    } catch {
      notice?.toggleAttribute("hidden", false);
    }
    // A form submitted before the script loaded would stay busy forever.
    for (const button of document.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy");
    try {
      const isInUse = (field: HTMLInputElement) =>
        field.matches(":focus") || (field.value && !field.hasAttribute("data-kept"));
      if (
        performance.now() > 30_000 &&
        (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming | undefined)?.type !== "reload" &&
        (await fetch("/api/health")).ok &&
        ![...document.querySelectorAll<HTMLInputElement>("input,textarea")].some(isInUse)
      )
        location.reload();
    } catch {
      // No network, or storage is forbidden.
    }
    await new Promise((resolve) => setTimeout(resolve, 3_000));
  }
};

/** `inlineLoadWithRetry`, which an inline script of every built document defines. Without one it loads once. */
export const loadWithRetry: LoadWithRetry =
  (globalThis as { loadWithRetry?: LoadWithRetry }).loadWithRetry ?? ((load) => load());

/** Shows the notice of a page that cannot start. */
export const showLoadFailure = (): void => {
  document.getElementById("unloaded")?.toggleAttribute("hidden", false);
};
