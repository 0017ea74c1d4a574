/**
 * That a session ended without its person's doing. The log-in page of this tab says so until somebody signs in: whoever
 * unlocks the phone may come long after it happened.
 */
const storageKey = "ended";

export const saveSessionEndedNote = (): void => {
  try {
    sessionStorage.setItem(storageKey, "1");
  } catch {
    // Storage is full or forbidden: the log-in page says nothing.
  }
};

/** Somebody is signed in. */
export const clearSessionEndedNote = (): void => {
  try {
    sessionStorage.removeItem(storageKey);
  } catch {
    // Storage is forbidden: nothing is there.
  }
};

const endedAttribute = "data-ended";
export const sessionEndedNoteId = "ended";

/**
 * Runs before the first paint: the note stands in the prerendered page, so that nothing moves when the script arrives. Somebody
 * who signed in since, in another tab, and out (`session.ts`) has kept nothing.
 */
export const sessionEndedScript =
  `try{sessionStorage.${storageKey}&&!localStorage["signed-out"]&&` +
  `document.documentElement.setAttribute("${endedAttribute}","")}catch{};`;
export const sessionEndedCss = `:root:not([${endedAttribute}]) #${sessionEndedNoteId}{display:none}`;
