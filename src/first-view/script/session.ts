import { refreshMarginSeconds } from "#contract/limits/authentication.ts";
import { requestFromWorker } from "#lib/browser/worker-request.ts";

/** Time when the session of this person expires; undefined if nobody or somebody else is signed in. */
const readExpiry = (user: string): number | undefined => {
  try {
    const { userId, expiresAt } = JSON.parse(localStorage["session"]);
    return userId === user ? expiresAt : undefined;
  } catch {
    return undefined; // no session, or storage is denied
  }
};

/** Has a session renewed that expires soon, so that the first message need not wait for that, and notes it for the app. */
export const renewExpiringSession = (user: string): void => {
  const expiresAt = readExpiry(user);
  if (expiresAt === undefined || expiresAt - Date.now() >= refreshMarginSeconds * 1_000) return;
  void requestFromWorker({ type: "renew-session", user }, ({ renewedUntil }) => {
    // The app may have renewed it again, or the person have signed out.
    if (renewedUntil === undefined || readExpiry(user) !== expiresAt) return;
    const session = { userId: user, expiresAt: renewedUntil, event: "TOKEN_REFRESHED" };
    localStorage.setItem("session", JSON.stringify(session));
  });
};
