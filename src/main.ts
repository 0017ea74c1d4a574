import "./app/theme.css";
import "virtual:uno.css";
import "./first-view/first-view.css";
import "./app/shell.css";
import { openStoreEarly } from "./app/opening/open-store.ts";
import { prepareTimeFormat } from "./i18n/format.ts";
import { watchInstallPrompt } from "./lib/browser/install-prompt.ts";
import { detectLanguage } from "./lib/browser/language.ts";
import { loadWithRetry } from "./lib/browser/load-failure.ts";
import { retryStylesheets } from "./lib/browser/stylesheet-retry.ts";

/**
 * First script of the app. It opens the store while the files of the screens are still on their way: a slow link leaves
 * the processor idle until they arrive.
 */
watchInstallPrompt();
retryStylesheets();
openStoreEarly();
setTimeout(prepareTimeFormat, 0, detectLanguage()); // in a task of its own
void loadWithRetry(() => import("./app-root.tsx"));
