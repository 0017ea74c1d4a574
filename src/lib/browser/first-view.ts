import { firstViewId } from "#contract/wire/document/document-names.ts";

/** First view of this document, drawn by the Worker or from a snapshot, until the app has drawn the same. */
export const findFirstView = (): HTMLElement | undefined => {
  const view = document.getElementById(firstViewId);
  return view?.firstElementChild ? view : undefined;
};

let takeover: Promise<void> | undefined;
let endTakeover = () => {};

/**
 * Resolves once no first view covers the app; at once if there is none. Every caller continues in a task of its own, so
 * that together they do not delay the first frame of the app.
 */
export const waitForTakeover = async (): Promise<void> => {
  if (!findFirstView()) return;
  takeover ??= new Promise<void>((resolve) => {
    endTakeover = resolve;
  });
  await takeover;
  await new Promise((resolve) => setTimeout(resolve));
};

let endWaitForContent = () => {};
const contentMissing = new Promise<void>((resolve) => {
  endWaitForContent = resolve;
});

/** Reports that the device has no content for a screen, so that the app cannot draw it without the server. */
export const reportContentMissing = (): void => endWaitForContent();

/**
 * Resolves once no first view covers the app, or the app needs the server to take over: the cache may be lost while a
 * snapshot of the screen is not.
 */
export const waitForFirstScreen = (): Promise<void> => Promise.race([waitForTakeover(), contentMissing]);

/** Removes the first view, because the app has drawn the same or the person signed out. */
export const removeFirstView = (view: HTMLElement): void => {
  view.remove();
  endTakeover();
};

/** Screens that a first view can show. */
export type FirstViewScreen = "list" | "chat";

type DrawnListener = (screen: FirstViewScreen) => void;
let listener: DrawnListener | undefined;

/** Reports that a screen has drawn its content, or that it has none. */
export const reportScreenDrawn = (screen: FirstViewScreen): void => listener?.(screen);

/** Calls `onDrawn` for every screen reported from now on: before the app is rendered. */
export const subscribeDrawnScreens = (onDrawn: DrawnListener): void => {
  listener = onDrawn;
};
