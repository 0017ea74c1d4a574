import { AccountDeletion } from "#contract/auth/account.ts";
import type { Uuid } from "#contract/ids.ts";
import { findProofEnd } from "#worker/auth/second-factor/reauthentication.ts";
import { openDb } from "#worker/db/client.ts";
import { isAccount } from "#worker/db/deletions.ts";
import { readAccessToken } from "#worker/lib/http/access-token.ts";
import { type AppContext, afterAnswer, createRoutes } from "#worker/lib/http/app.ts";
import { accessTokenOf, recognize, type Unrecognized } from "#worker/lib/http/authenticate.ts";
import { clearSessionCookies } from "#worker/lib/http/cookies.ts";
import { operation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { logError } from "#worker/lib/log.ts";
import { feed } from "#worker/lib/storage/feed-cache.ts";
import { userChannelOf } from "#worker/objects/stubs.ts";
import { beginDeletion } from "./queries.ts";

/** `proofEnd`: until when they may delete it; null when they have first to show once more who they are. */
type Asker = { user: Uuid; isThere: true; proofEnd: number | null } | { user: Uuid; isThere: false };

/** Who asks; also somebody who has no account any more because they asked for that before and lost the answer. */
const findAsker = async (c: AppContext): Promise<Asker | Unrecognized | "no_authorization"> => {
  const token = accessTokenOf(c);
  if (!token) return "no_authorization";
  const db = openDb(c.env);
  const found = await recognize(c.env, db, token);
  if (typeof found === "object") {
    const { caller } = found;
    return { user: caller.user, isThere: true, proofEnd: await findProofEnd(db, caller, Date.now()) };
  }
  const user = found === "session_not_found" ? (await readAccessToken(c.env, token))?.sub : undefined;
  return user === undefined || (await isAccount(db, user)) ? found : { user, isThere: false };
};

export const accountRoutes = createRoutes().delete(
  "/account",
  operation({
    tag: "people",
    summary:
      "Delete one's own account for good, within five minutes of having shown a factor: sessions, profile, contacts, statuses. What others were sent stays theirs. Asked again, it is done",
    ok: { status: 204, body: null },
    refusals: ["invalid_input", "user_not_found", "reauthentication_needed", "unavailable", "forbidden_origin"],
  }),
  validate("json", AccountDeletion),
  async (c) => {
    const asker = await findAsker(c);
    if (typeof asker === "string") return refuse(c, asker);
    const { user } = asker;
    if (c.req.valid("json").user_id !== user) return refuse(c, "user_not_found");
    if (asker.isThere) {
      if (asker.proofEnd === null) return refuse(c, "reauthentication_needed");
      try {
        await beginDeletion(c.env, openDb(c.env), user);
      } catch (error) {
        logError("an account could not be deleted", error);
        return refuse(c, "unavailable");
      }
      // From here on it is gone. What the channel does not hear now it hears from `resumeDeletions`.
      await userChannelOf(c.env, user)
        .part(user)
        .catch((error: unknown) => logError("a deletion waits to be taken up", error));
    }
    afterAnswer(c.executionCtx, "forget a deleted account's statuses", feed.forget(new URL(c.req.url).origin));
    clearSessionCookies(c);
    c.header("clear-site-data", '"cache"');
    return c.body(null, 204);
  },
);
