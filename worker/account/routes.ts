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

/** `proofEnd`: until when they may delete it; null when they have first to show once more who they are. */
type DeletionCaller =
  | { user: Uuid; hasAccount: true; reauthenticatedUntil: number | null }
  | { user: Uuid; hasAccount: false };

/** Who asks; also somebody who has no account any more because they asked for that before and lost the answer. */
const findDeletionCaller = async (c: AppContext): Promise<DeletionCaller | TokenRefusal | "no_authorization"> => {
  const token = findAccessToken(c);
  if (!token) return "no_authorization";
  const db = openDb(c.env);
  const found = await authenticateToken(c.env, db, token);
  if (typeof found === "object") {
    const { caller } = found;
    return {
      user: caller.user,
      hasAccount: true,
      reauthenticatedUntil: await findReauthenticationExpiry(db, caller, Date.now()),
    };
  }
  const user = found === "session_not_found" ? (await verifyAccessToken(c.env, token))?.sub : undefined;
  return user === undefined || (await hasAccount(db, user)) ? found : { user, hasAccount: false };
};

export const accountRoutes = createRoutes().delete(
  "/account",
  describeOperation({
    tag: "people",
    summary:
      "Delete one's own account for good, within five minutes of having shown a factor: sessions, profile, contacts, statuses. What others were sent stays theirs. Asked again, it is done",
    ok: { status: 204, body: null },
    refusals: ["invalid_input", "user_not_found", "reauthentication_needed", "unavailable", "forbidden_origin"],
  }),
  validate("json", AccountDeletion),
  async (c) => {
    const asker = await findDeletionCaller(c);
    if (typeof asker === "string") return refuse(c, asker);
    const { user } = asker;
    if (c.req.valid("json").user_id !== user) return refuse(c, "user_not_found");
    if (asker.hasAccount) {
      if (asker.reauthenticatedUntil === null) return refuse(c, "reauthentication_needed");
      try {
        await startAccountDeletion(c.env, openDb(c.env), user);
      } catch (error) {
        logError("an account could not be deleted", error);
        return refuse(c, "unavailable");
      }
      // From here on it is gone. What the channel does not hear now it hears from `resumeDeletions`.
      await getUserChannelStub(c.env, user)
        .deleteAccount(user)
        .catch((error: unknown) => logError("a deletion waits to be taken up", error));
    }
    runAfterResponse(
      c.executionCtx,
      "forget a deleted account's statuses",
      feedCache.invalidate(new URL(c.req.url).origin),
    );
    clearSessionCookies(c);
    c.header("clear-site-data", '"cache"');
    return c.body(null, 204);
  },
);
