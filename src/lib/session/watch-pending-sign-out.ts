import { pendingSignOutKey } from "./pending-sign-out-key.ts";

const hasPendingSignOut = (): boolean => {
  try {
    return localStorage.getItem(pendingSignOutKey) !== null;
  } catch {
    return false; // storage is forbidden
  }
};

const retryPendingSignOut = async (): Promise<void> => {
  if (!hasPendingSignOut()) return;
  const [{ completePendingSignOut }, { withSessionLock }] = await Promise.all([
    import("./pending-sign-out.ts"),
    import("./session-refresh.ts"),
  ]);
  await withSessionLock(completePendingSignOut);
};

/** Completes an offline sign-out on the server (`pending-sign-out.ts`): now, and whenever the network returns. */
export const watchPendingSignOut = (): void => {
  const attempt = () => void retryPendingSignOut().catch(() => undefined); // retried next time
  attempt();
  addEventListener("online", attempt);
};
