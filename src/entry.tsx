import { hydrateRoot } from "react-dom/client";
import { isLanguage } from "#contract/language.ts";
import { showToast } from "./components/overlays/toast.tsx";
import { type EntryPageName, EntryRoot, entryPaths, entryScreenLoaders } from "./entry-screens.tsx";
import { loadLanguage } from "./i18n/setup.ts";
import { syncAppearance } from "./lib/browser/appearance.ts";
import { detectLanguage } from "./lib/browser/language.ts";
import { loadWithRetry } from "./lib/browser/load-failure.ts";
import { registerServiceWorker } from "./lib/browser/service-worker.ts";
import { consumeFlashMessage } from "./lib/session/flash-message.ts";
import { getSession } from "./lib/session/session.ts";
import { watchPendingSignOut } from "./lib/session/watch-pending-sign-out.ts";

/**
 * Script of the prerendered pages: hydrates them. Input made before it loaded is in the page's native inputs and is
 * preserved.
 */
const pageNames = Object.keys(entryPaths) as EntryPageName[];
const pageName = pageNames.find((candidate) => entryPaths[candidate] === location.pathname) ?? "welcome";
const root = document.getElementById("root");
const prerenderedLanguage = document.documentElement.lang;

const hydrateEntryPage = async () => {
  if (!root) return;
  const [{ default: Screen }] = await Promise.all([
    loadWithRetry(entryScreenLoaders[pageName]),
    loadLanguage(isLanguage(prerenderedLanguage) ? prerenderedLanguage : detectLanguage(), "entry"),
  ]);
  hydrateRoot(root, <EntryRoot Screen={Screen} />);
  // The page was cached before the person chose another language: by the service worker, or by the browser's
  // back/forward cache.
  if (detectLanguage() !== prerenderedLanguage) await loadLanguage(detectLanguage());
};

syncAppearance();
// The back/forward cache may restore the page, and then the inline script does not run again.
addEventListener("pageshow", (event) => {
  if (event.persisted && pageName !== "recover" && getSession()) location.replace("/app");
});

await hydrateEntryPage();
// Message saved by the sign-out, shown once the welcome page is rendered.
const flashMessage = consumeFlashMessage();
if (flashMessage)
  showToast({
    message: flashMessage.message,
    ...(flashMessage.title === undefined ? {} : { title: flashMessage.title }),
  });
watchPendingSignOut();
registerServiceWorker();
