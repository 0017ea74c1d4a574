import "./app/theme.css";
import "virtual:uno.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { I18nextProvider } from "react-i18next";
import { App, preloadApp } from "./app/app.tsx";
import { showToast } from "./components/overlays/toast.tsx";
import { followLanguage, i18n, loadLanguage } from "./i18n/setup.ts";
import { followAppearance } from "./lib/browser/appearance.ts";
import { forgetTyped } from "./lib/browser/form-restore.ts";
import { browserLanguage } from "./lib/browser/language.ts";
import { showUnloaded } from "./lib/browser/load-failure.ts";
import { registerServiceWorker } from "./lib/browser/service-worker.ts";
import { takeNotice } from "./lib/session/flash-message.ts";
import { followPendingSignOut } from "./lib/session/follow-sign-out.ts";
import { getSession } from "./lib/session/session.ts";
import { forgetEnd } from "./lib/session/session-ended-note.ts";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

followAppearance();
if (getSession()) {
  forgetTyped();
  forgetEnd();
}
preloadApp(location.pathname);
await loadLanguage(browserLanguage(), "app").catch((error: unknown) => {
  showUnloaded();
  throw error;
});
followLanguage();
createRoot(root).render(
  <StrictMode>
    <I18nextProvider i18n={i18n}>
      <App />
    </I18nextProvider>
  </StrictMode>,
);
const notice = takeNotice();
if (notice) showToast({ message: notice.message, ...(notice.title === undefined ? {} : { title: notice.title }) });
followPendingSignOut();
registerServiceWorker();
