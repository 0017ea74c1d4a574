/**
 * Whether a deliberate sign-out is in progress. The session ends before the navigation is done; meanwhile the redirect
 * of visitors to the log-in page is suspended.
 */
let isSignOutRunning = false;

export const isSigningOut = (): boolean => isSignOutRunning;
export const setSigningOut = (value: boolean): void => {
  isSignOutRunning = value;
};
