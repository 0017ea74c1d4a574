import "./app/theme.css";
import "virtual:uno.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { I18nextProvider } from "react-i18next";
import { App, preloadApp } from "./app/app";
import { showToast } from "./components/toast";
import { followLanguage, i18n, loadLanguage } from "./i18n/setup";
import { followAppearance } from "./lib/appearance";
import { forgetEnd } from "./lib/ended";
import { followPendingSignOut } from "./lib/follow-sign-out";
import { browserLanguage } from "./lib/language";
import { takeNotice } from "./lib/notice";
import { registerServiceWorker } from "./lib/service-worker";
import { getSession } from "./lib/session";
import { forgetTyped } from "./lib/typed";
import { showUnloaded } from "./lib/unloaded";

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
