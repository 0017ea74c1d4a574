import { type InstallPromptEvent, installPrompt } from "#lib/browser/install-prompt.ts";
import { saveInstallAnswer } from "./install-history.ts";

/** Shows the browser's dialog, which an event offers only once. Call it from a tap. */
export const runInstallPrompt = async (event: InstallPromptEvent): Promise<void> => {
  saveInstallAnswer(Date.now());
  try {
    await event.prompt();
  } finally {
    installPrompt.set(undefined);
  }
};
