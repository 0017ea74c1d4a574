import { pendingSignOutKey } from "./pending-sign-out-key.ts";

const isPending = (): boolean => {
  try {
    return localStorage.getItem(pendingSignOutKey) !== null;
  } catch {
    return false; // storage is forbidden
  }
};

const end = async (): Promise<void> => {
  if (!isPending()) return;
  const [{ endPendingSignOut }, { inOneTab }] = await Promise.all([
    import("./pending-sign-out.ts"),
    import("./session-refresh.ts"),
  ]);
  await inOneTab(endPendingSignOut);
};

/** Ends on the server what was ended here without a network (`pending-sign-out.ts`): now, or with the network's return. */
export const followPendingSignOut = (): void => {
  const attempt = () => void end().catch(() => undefined); // next time
  attempt();
  addEventListener("online", attempt);
};
