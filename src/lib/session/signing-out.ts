/**
 * A deliberate way out of the app (signing out) ends the session before it is done; until it has led the person
 * where it goes, the guard that sends visitors to the log-in stands back.
 */
let departing = false;

export const isDeparting = (): boolean => departing;
export const setDeparting = (is: boolean): void => {
  departing = is;
};
