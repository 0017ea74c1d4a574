import "./app/theme.css";
import "virtual:uno.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { I18nextProvider } from "react-i18next";
import { App, preloadApp } from "./app/app.tsx";
import { startFirstViewTakeover } from "./app/first-view-takeover.ts";
import { startSnapshots } from "./app/watch-snapshots.ts";
import { showToast } from "./components/overlays/toast.tsx";
import { prepareTimeFormat } from "./i18n/format.ts";
import { i18n, loadLanguage, syncLanguage, t } from "./i18n/setup.ts";
import { syncAppearance } from "./lib/browser/appearance.ts";
import { waitForTakeover } from "./lib/browser/first-view.ts";
import { clearFormInput } from "./lib/browser/form-restore.ts";
import { watchInstallPrompt } from "./lib/browser/install-prompt.ts";
import { detectLanguage } from "./lib/browser/language.ts";
import { showLoadFailure } from "./lib/browser/load-failure.ts";
import { registerServiceWorker, subscribeUpdates } from "./lib/browser/service-worker.ts";
import { retryStylesheets } from "./lib/browser/stylesheet-retry.ts";
import { saveTimeZone } from "./lib/browser/time-zone.ts";
import { consumeFlashMessage } from "./lib/session/flash-message.ts";
import { getSession } from "./lib/session/session.ts";
import { clearSessionEndedNote } from "./lib/session/session-ended-note.ts";
import { watchPendingSignOut } from "./lib/session/watch-pending-sign-out.ts";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

watchInstallPrompt();
syncAppearance();
retryStylesheets();
if (getSession()) {
  clearFormInput();
  clearSessionEndedNote();
  void waitForTakeover().then(saveTimeZone);
}
preloadApp(location.pathname);
const language = detectLanguage();
setTimeout(prepareTimeFormat, 0, language); // in a task of its own, while the texts are loaded
await loadLanguage(language, "app").catch((error: unknown) => {
  showLoadFailure();
  throw error;
});
syncLanguage();
startFirstViewTakeover();
createRoot(root).render(
  <StrictMode>
    <I18nextProvider i18n={i18n}>
      <App />
    </I18nextProvider>
  </StrictMode>,
);
const flashMessage = consumeFlashMessage();
if (flashMessage)
  showToast({
    message: flashMessage.message,
    ...(flashMessage.title === undefined ? {} : { title: flashMessage.title }),
  });
startSnapshots();
watchPendingSignOut();
registerServiceWorker();
// Nothing reloads by itself: somebody may be writing, or in a call.
subscribeUpdates(() =>
  showToast({
    message: t("shell.notice.updated"),
    action: { label: t("common.reload"), onSelect: () => location.reload() },
  }),
);
