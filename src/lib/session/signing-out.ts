/**
 * A deliberate way out of the app (signing out) ends the session before it is done; until it has led the person
 * where it goes, the guard that sends visitors to the log-in stands back.
 */
let isSignOutRunning = false;

export const isSigningOut = (): boolean => isSignOutRunning;
export const setSigningOut = (is: boolean): void => {
  isSignOutRunning = is;
};
