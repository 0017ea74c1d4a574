/** Open window of this origin, as the service worker sees it. */
export type WindowState = { url: string; visibilityState: DocumentVisibilityState };

const toPath = (url: string): string => new URL(url).pathname;
/** Whether a window shows the app, and not another page of this origin. */
export const isAppWindow = ({ url }: WindowState): boolean => /^\/app(\/|$)/.test(toPath(url));

/**
 * Window in which a tapped notification opens its path: one that shows it already, else a visible one, else the one
 * that had the focus last; undefined if the app is not open. `windows` are in the order of `Clients.matchAll`, last
 * focused first.
 */
export const chooseWindow = <T extends WindowState>(windows: readonly T[], path: string): T | undefined => {
  const candidates = windows.filter(isAppWindow);
  return (
    candidates.find(({ url }) => toPath(url) === path) ??
    candidates.find(({ visibilityState }) => visibilityState === "visible") ??
    candidates[0]
  );
};
