/** Web Lock under which the session is renewed, opened and ended: by every tab and by the service worker. */
export const sessionLock = "lisolo-session-refresh";
