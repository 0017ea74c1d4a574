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
  const [{ completePendingSignOut: endPendingSignOut }, { withSessionLock: inOneTab }] = await Promise.all([
    import("./pending-sign-out.ts"),
    import("./session-refresh.ts"),
  ]);
  await inOneTab(endPendingSignOut);
};

/** Ends on the server what was ended here without a network (`pending-sign-out.ts`): now, or with the network's return. */
export const watchPendingSignOut = (): void => {
  const attempt = () => void retryPendingSignOut().catch(() => undefined); // next time
  attempt();
  addEventListener("online", attempt);
};
