import { hydrateRoot } from "react-dom/client";
import { isLanguage } from "#contract/language.ts";
import { showToast } from "./components/overlays/toast.tsx";
import { Entry, type EntryName, entryPaths, loadEntryScreen } from "./entry-screens.tsx";
import { loadLanguage } from "./i18n/setup.ts";
import { followAppearance } from "./lib/browser/appearance.ts";
import { browserLanguage } from "./lib/browser/language.ts";
import { showUnloaded } from "./lib/browser/load-failure.ts";
import { registerServiceWorker } from "./lib/browser/service-worker.ts";
import { takeNotice } from "./lib/session/flash-message.ts";
import { followPendingSignOut } from "./lib/session/follow-sign-out.ts";
import { getSession } from "./lib/session/session.ts";

/**
 * The script of the prerendered pages. It takes over what stands there: what was typed, chosen and ticked
 * before it arrived is in the page's own inputs and stays.
 */
const names = Object.keys(entryPaths) as EntryName[];
const name = names.find((candidate) => entryPaths[candidate] === location.pathname) ?? "welcome";
const root = document.getElementById("root");
const shown = document.documentElement.lang;

const takeOver = async () => {
  if (!root) return;
  const [{ default: Screen }] = await Promise.all([
    loadEntryScreen[name](),
    loadLanguage(isLanguage(shown) ? shown : browserLanguage(), "entry"),
  ]);
  hydrateRoot(root, <Entry Screen={Screen} />);
  // A page kept from before the person chose another language: by the service worker, or by the browser for "back".
  if (browserLanguage() !== shown) await loadLanguage(browserLanguage());
};

followAppearance();
// The browser's "back" may bring the page from its memory, where the inline script does not run again.
addEventListener("pageshow", (event) => {
  if (event.persisted && name !== "recover" && getSession()) location.replace("/app");
});

try {
  await takeOver();
} catch (error) {
  showUnloaded();
  throw error;
}
// What signing out has to say, once the welcome page stands.
const notice = takeNotice();
if (notice) showToast({ message: notice.message, ...(notice.title === undefined ? {} : { title: notice.title }) });
followPendingSignOut();
registerServiceWorker();
