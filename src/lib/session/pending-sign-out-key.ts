/** Where a sign-out that the server has not heard of is kept (`pending-sign-out.ts`). */
export const pendingSignOutKey = "pending-sign-out";
