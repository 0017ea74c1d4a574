import { StrictMode, startTransition } from "react";
import { createRoot } from "react-dom/client";
import { I18nextProvider } from "react-i18next";
import { App, preloadScreen } from "./app/app.tsx";
import { startFirstViewTakeover } from "./app/first-view-takeover.ts";
import { startSnapshots } from "./app/opening/watch-snapshots.ts";
import { watchReplacedRelease } from "./app/replaced-release.ts";
import { showToast } from "./components/overlays/toast.tsx";
import { i18n, loadLanguage, syncLanguage, t } from "./i18n/setup.ts";
import { syncAppearance } from "./lib/browser/appearance.ts";
import { findFirstView, waitForTakeover } from "./lib/browser/first-view.ts";
import { clearFormInput } from "./lib/browser/form-restore.ts";
import { detectLanguage } from "./lib/browser/language.ts";
import { showLoadFailure } from "./lib/browser/load-failure.ts";
import { registerServiceWorker, subscribeUpdates } from "./lib/browser/service-worker.ts";
import { saveTimeZone } from "./lib/browser/time/time-zone.ts";
import { consumeFlashMessage } from "./lib/session/flash-message.ts";
import { getSession } from "./lib/session/session.ts";
import { clearSessionEndedNote } from "./lib/session/session-ended-note.ts";
import { watchPendingSignOut } from "./lib/session/watch-pending-sign-out.ts";

/** Renders the app once its texts are there, and under a first view also the code of the screen. */
const renderApp = async (root: HTMLElement): Promise<void> => {
  const language = detectLanguage();
  const screenLoaded = preloadScreen(location.pathname);
  await loadLanguage(language, "app");
  // Under a first view nobody sees that a screen is still loading, and it would be rendered twice.
  if (findFirstView()) await screenLoaded;
  syncLanguage();
  startFirstViewTakeover();
  // In steps that input into the first view may interrupt.
  startTransition(() =>
    createRoot(root).render(
      <StrictMode>
        <I18nextProvider i18n={i18n}>
          <App />
        </I18nextProvider>
      </StrictMode>,
    ),
  );
};

/** Work of the page that needs its texts but not its screens. */
const startPage = (): void => {
  const flashMessage = consumeFlashMessage();
  if (flashMessage)
    showToast({
      message: flashMessage.message,
      ...(flashMessage.title === undefined ? {} : { title: flashMessage.title }),
    });
  startSnapshots();
  watchReplacedRelease();
  watchPendingSignOut();
  registerServiceWorker();
  // Nothing reloads by itself: somebody may be writing, or in a call.
  subscribeUpdates(() =>
    showToast({
      message: t("shell.notice.updated"),
      action: { label: t("common.reload"), onSelect: () => location.reload() },
    }),
  );
};

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

syncAppearance();
if (getSession()) {
  clearFormInput();
  clearSessionEndedNote();
  void waitForTakeover().then(saveTimeZone);
}
renderApp(root)
  .then(startPage)
  .catch((error: unknown) => {
    showLoadFailure();
    throw error;
  });
