import { hydrateRoot } from "react-dom/client";
import { isLanguage } from "#contract/language.ts";
import { showToast } from "./components/overlays/toast.tsx";
import { type EntryPageName, EntryRoot, entryPaths, entryScreenLoaders } from "./entry-screens.tsx";
import { loadLanguage } from "./i18n/setup.ts";
import { syncAppearance } from "./lib/browser/appearance.ts";
import { detectLanguage } from "./lib/browser/language.ts";
import { showLoadFailure } from "./lib/browser/load-failure.ts";
import { registerServiceWorker } from "./lib/browser/service-worker.ts";
import { consumeFlashMessage } from "./lib/session/flash-message.ts";
import { getSession } from "./lib/session/session.ts";
import { watchPendingSignOut } from "./lib/session/watch-pending-sign-out.ts";

/**
 * The script of the prerendered pages. It takes over what stands there: what was typed, chosen and ticked
 * before it arrived is in the page's own inputs and stays.
 */
const pageNames = Object.keys(entryPaths) as EntryPageName[];
const pageName = pageNames.find((candidate) => entryPaths[candidate] === location.pathname) ?? "welcome";
const root = document.getElementById("root");
const prerenderedLanguage = document.documentElement.lang;

const hydrateEntryPage = async () => {
  if (!root) return;
  const [{ default: Screen }] = await Promise.all([
    entryScreenLoaders[pageName](),
    loadLanguage(isLanguage(prerenderedLanguage) ? prerenderedLanguage : detectLanguage(), "entry"),
  ]);
  hydrateRoot(root, <EntryRoot Screen={Screen} />);
  // A page kept from before the person chose another language: by the service worker, or by the browser for "back".
  if (detectLanguage() !== prerenderedLanguage) await loadLanguage(detectLanguage());
};

syncAppearance();
// The browser's "back" may bring the page from its memory, where the inline script does not run again.
addEventListener("pageshow", (event) => {
  if (event.persisted && pageName !== "recover" && getSession()) location.replace("/app");
});

try {
  await hydrateEntryPage();
} catch (error) {
  showLoadFailure();
  throw error;
}
// What signing out has to say, once the welcome page stands.
const flashMessage = consumeFlashMessage();
if (flashMessage)
  showToast({
    message: flashMessage.message,
    ...(flashMessage.title === undefined ? {} : { title: flashMessage.title }),
  });
watchPendingSignOut();
registerServiceWorker();
