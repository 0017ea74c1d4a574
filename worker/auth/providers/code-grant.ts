import { and, eq, sql } from "drizzle-orm";
import type { PkceGrant, Session } from "#contract/auth/auth.ts";
import { findAccount } from "#worker/auth/queries.ts";
import { byAuthCode, byIdentity, inSession, together } from "#worker/auth/second-factor/preconditions.ts";
import { notify } from "#worker/auth/security-notices.ts";
import { startSession, toSession } from "#worker/auth/sessions/open-session.ts";
import { toTokens } from "#worker/auth/sessions/sessions.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { type AuthCode, findAuthCode } from "./auth-codes.ts";
import { findOwner, insertIdentity, type Known, markUsed, type Newcomer } from "./identities.ts";

type Refusal =
  | "flow_state_not_found"
  | "bad_code_verifier"
  | "session_not_found"
  | "identity_already_exists"
  | "phone_needed";

/** `name`: what the provider calls whoever it knows and no account does, for them to register with. */
export type Granted = { session: Session } | { refusal: Refusal; name?: string | null };

/** The identity a code stands for; undefined for one that was mailed. */
const identityOf = ({ method, provider, subject, email, name }: AuthCode): Known | undefined =>
  method === "oauth" && provider !== null && subject !== null ? { provider, subject, email, name } : undefined;

/** Links an identity in the session that asked for it, which goes on: whoever shows the code began it there. */
const link = async (c: AppContext, row: AuthCode, identity: Known): Promise<Granted> => {
  const db = openDb(c.env);
  const { user_id: user, session_id: id } = row;
  if (user === null || id === null) return { refusal: "session_not_found" };
  const ground = together(byAuthCode(row.hash), inSession(id, user));
  const { isNew, isUsed } = await insertIdentity(db, user, identity, ground);
  if (!isUsed) return { refusal: "flow_state_not_found" };
  const owner = isNew ? undefined : await findOwner(db, identity);
  if (owner && owner.user_id !== user) return { refusal: "identity_already_exists" };
  const account = await findAccount(db, user);
  const [session] = await db
    .update(sessions)
    .set({ generation: sql`${sessions.generation} + 1`, refreshed_at: Date.now() })
    .where(and(eq(sessions.id, id), eq(sessions.awaits, false)))
    .returning();
  if (!account || !session) return { refusal: "session_not_found" };
  if (isNew) notify(c, user, { event: "identity_linked", session: id, device: session.device ?? "" });
  return { session: await toSession(c, account, toTokens(c.env, session)) };
};

/** Trades a code for a session. Whom no account knows keeps the code, for the registration. */
export const grantByCode = async (c: AppContext, grant: PkceGrant): Promise<Granted> => {
  const db = openDb(c.env);
  const row = await findAuthCode(db, grant);
  if (typeof row === "string") return { refusal: row };
  const identity = identityOf(row);
  const isLink = identity !== undefined && row.user_id !== null;
  if (isLink) return link(c, row, identity);
  const owner = identity && (await findOwner(db, identity));
  const user = owner?.user_id ?? row.user_id;
  const account = user === null ? undefined : await findAccount(db, user);
  if (identity && (!account || !owner)) return { refusal: "phone_needed", name: identity.name ?? null };
  const grounds = owner && identity ? [byIdentity({ ...identity, ...owner })] : [];
  const session = account && (await startSession(c, account, row.method, together(byAuthCode(row.hash), ...grounds)));
  if (!session) return { refusal: "flow_state_not_found" };
  if (identity) await markUsed(db, identity);
  return { session };
};

/** Whom a registration is for: known to a provider and to no account. The code stays good until the account stands. */
export const findNewcomer = async (db: Db, grant: PkceGrant): Promise<Newcomer | Refusal> => {
  const row = await findAuthCode(db, grant);
  if (typeof row === "string") return row;
  const identity = identityOf(row);
  if (!identity || row.user_id !== null) return "flow_state_not_found";
  return (await findOwner(db, identity)) === undefined ? { ...identity, code: row.hash } : "identity_already_exists";
};
