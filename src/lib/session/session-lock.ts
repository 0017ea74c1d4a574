/**
 * Web Lock under which the session is renewed, opened and ended: by every tab, by the script of a first view and by the
 * service worker.
 */
export const sessionLock = "lisolo-session-refresh";
