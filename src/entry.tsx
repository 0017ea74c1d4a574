import { hydrateRoot } from "react-dom/client";
import { isLanguage } from "../contract/language";
import { showToast } from "./components/toast";
import { Entry, type EntryName, entryPaths, loadEntryScreen } from "./entry-screens";
import { loadLanguage } from "./i18n/setup";
import { followAppearance } from "./lib/appearance";
import { followPendingSignOut } from "./lib/follow-sign-out";
import { browserLanguage } from "./lib/language";
import { takeNotice } from "./lib/notice";
import { registerServiceWorker } from "./lib/service-worker";
import { getSession } from "./lib/session";
import { showUnloaded } from "./lib/unloaded";

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
