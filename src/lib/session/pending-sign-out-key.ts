/** Storage key of an offline sign-out (`pending-sign-out.ts`). */
export const pendingSignOutKey = "pending-sign-out";
