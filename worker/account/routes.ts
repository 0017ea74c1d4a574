import { AccountDeletion } from "#contract/auth/account.ts";
import type { Uuid } from "#contract/ids.ts";
import { findReauthenticationExpiry } from "#worker/auth/second-factor/reauthentication.ts";
import { openDb } from "#worker/db/client.ts";
import { hasAccount } from "#worker/db/deletions.ts";
import { verifyAccessToken } from "#worker/lib/http/access-token.ts";
import { type AppContext, createRoutes, runAfterResponse } from "#worker/lib/http/app.ts";
import { authenticateToken, findAccessToken, type TokenRefusal } from "#worker/lib/http/authenticate.ts";
import { clearSessionCookies } from "#worker/lib/http/cookies.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { logError } from "#worker/lib/log.ts";
import { feedCache } from "#worker/lib/storage/feed-cache.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import { startAccountDeletion } from "./queries.ts";

/**
 * `reauthenticatedUntil`: time up to which the caller may delete the account; null if they must reauthenticate first.
 */
type DeletionCaller =
  | { user: Uuid; hasAccount: true; reauthenticatedUntil: number | null }
  | { user: Uuid; hasAccount: false };

/**
 * Finds the caller of a deletion. A caller whose account is already deleted is recognised too, because the response to
 * an earlier request may have been lost.
 */
const findDeletionCaller = async (c: AppContext): Promise<DeletionCaller | TokenRefusal | "no_authorization"> => {
  const token = findAccessToken(c);
  if (!token) return "no_authorization";
  const db = openDb(c.env);
  const authenticated = await authenticateToken(c.env, db, token);
  if (typeof authenticated === "object") {
    const { caller } = authenticated;
    return {
      user: caller.user,
      hasAccount: true,
      reauthenticatedUntil: await findReauthenticationExpiry(db, caller, Date.now()),
    };
  }
  const user = authenticated === "session_not_found" ? (await verifyAccessToken(c.env, token))?.sub : undefined;
  return user === undefined || (await hasAccount(db, user)) ? authenticated : { user, hasAccount: false };
};

export const accountRoutes = createRoutes().delete(
  "/account",
  describeOperation({
    tag: "people",
    id: "delete-user-account",
    summary:
      "Delete one's own account permanently, within five minutes of reauthentication: sessions, profile, contacts, statuses. Content sent to others is kept. Idempotent",
    ok: { status: 204, body: null },
    refusals: ["invalid_input", "user_not_found", "reauthentication_needed", "unavailable", "forbidden_origin"],
  }),
  validate("json", AccountDeletion),
  async (c) => {
    const caller = await findDeletionCaller(c);
    if (typeof caller === "string") return refuse(c, caller);
    const { user } = caller;
    if (c.req.valid("json").user_id !== user) return refuse(c, "user_not_found");
    if (caller.hasAccount) {
      if (caller.reauthenticatedUntil === null) return refuse(c, "reauthentication_needed");
      try {
        await startAccountDeletion(c.env, openDb(c.env), user);
      } catch (error) {
        logError("an account could not be deleted", error);
        return refuse(c, "unavailable");
      }
      // The account is deleted from here on. If this call fails, `resumeAccountDeletions` repeats it.
      await getUserChannelStub(c.env, user)
        .deleteAccount(user)
        .catch((error: unknown) => logError("an account deletion could not be started and is resumed later", error));
    }
    runAfterResponse(
      c.executionCtx,
      "invalidate the feed after an account deletion",
      feedCache.invalidate(new URL(c.req.url).origin),
    );
    clearSessionCookies(c);
    c.header("clear-site-data", '"cache"');
    return c.body(null, 204);
  },
);
