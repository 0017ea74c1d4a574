import { Observable } from "./observable.ts";

/** Event of Chromium that offers to install the app. It is in no type library. */
export type InstallPromptEvent = Event & { prompt: () => Promise<{ outcome: "accepted" | "dismissed" }> };

/**
 * How this browser installs the app: by the kept event, or from the share menu of an iPhone (`navigator.standalone`
 * exists there only). Undefined while it is installed, or where the browser offers nothing.
 */
export const installPrompt = new Observable<InstallPromptEvent | "home-screen" | undefined>(
  Reflect.get(navigator, "standalone") === false ? "home-screen" : undefined,
);

/** Keeps the browser's offer until a suitable moment. It may come at any time after the start of the page. */
export const watchInstallPrompt = (): void => {
  addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    installPrompt.set(event as InstallPromptEvent);
  });
  addEventListener("appinstalled", () => installPrompt.set(undefined));
};
