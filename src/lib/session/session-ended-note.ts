/**
 * Note that a session ended without the person's action. The log-in page of this tab shows it until somebody signs in,
 * since the phone may be unlocked much later.
 */
const storageKey = "ended";

export const saveSessionEndedNote = (): void => {
  try {
    sessionStorage.setItem(storageKey, "1");
  } catch {
    // Storage is full or forbidden: the log-in page shows no note.
  }
};

/** Deletes the note, called once somebody is signed in. */
export const clearSessionEndedNote = (): void => {
  try {
    sessionStorage.removeItem(storageKey);
  } catch {
    // Storage is forbidden: nothing is saved.
  }
};

const endedAttribute = "data-ended";
export const sessionEndedNoteId = "ended";

/**
 * Inline script that runs before the first paint: the note is part of the prerendered page, so nothing moves when the
 * app script loads. It stays invisible if somebody signed in and out in another tab in the meantime (`session.ts`).
 */
export const sessionEndedScript =
  `try{sessionStorage.${storageKey}&&(localStorage["signed-out"]||"elsewhere")=="elsewhere"&&` +
  `document.documentElement.setAttribute("${endedAttribute}","")}catch{};`;
export const sessionEndedCss = `:root:not([${endedAttribute}]) #${sessionEndedNoteId}{display:none}`;
