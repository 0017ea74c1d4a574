import { and, eq, sql } from "drizzle-orm";
import type { Session } from "#contract/auth/auth.ts";
import type { PkceGrant } from "#contract/auth/sign-in.ts";
import { findAccount } from "#worker/auth/queries.ts";
import {
  joinPreconditions,
  toAuthCodePreconditions,
  toFullSessionPreconditions,
  toIdentityPreconditions,
} from "#worker/auth/second-factor/preconditions.ts";
import { sendSecurityNotice } from "#worker/auth/security-notices.ts";
import { startSession, toSession } from "#worker/auth/sessions/open-session.ts";
import { createSessionTokens } from "#worker/auth/sessions/sessions.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { type AuthCode, findAuthCode } from "./auth-codes.ts";
import {
  findIdentityOwner,
  insertIdentity,
  type ProviderIdentity,
  recordIdentityUse,
  type UnlinkedIdentity,
} from "./identities.ts";

type CodeGrantRefusal =
  | "flow_state_not_found"
  | "bad_code_verifier"
  | "session_not_found"
  | "identity_already_exists"
  | "phone_needed";

/** `name`: the provider's name for a person without an account, as a suggestion for the registration. */
export type CodeGrantResult = { session: Session } | { refusal: CodeGrantRefusal; name?: string | null };

/** Identity behind a code; undefined for a code of a recovery mail. */
const findCodeIdentity = ({ method, provider, subject, email, name }: AuthCode): ProviderIdentity | undefined =>
  method === "oauth" && provider !== null && subject !== null ? { provider, subject, email, name } : undefined;

/**
 * Links an identity to the account of the session that requested it. That session continues: the holder of the code's
 * verifier started the flow there.
 */
const linkIdentity = async (c: AppContext, row: AuthCode, identity: ProviderIdentity): Promise<CodeGrantResult> => {
  const db = openDb(c.env);
  const { user_id: user, session_id: id } = row;
  if (user === null || id === null) return { refusal: "session_not_found" };
  const preconditions = joinPreconditions(toAuthCodePreconditions(row.hash), toFullSessionPreconditions(id, user));
  const { isNew, isUsed } = await insertIdentity(db, user, identity, preconditions);
  if (!isUsed) return { refusal: "flow_state_not_found" };
  const owner = isNew ? undefined : await findIdentityOwner(db, identity);
  if (owner && owner.user_id !== user) return { refusal: "identity_already_exists" };
  const account = await findAccount(db, user);
  const [session] = await db
    .update(sessions)
    .set({ generation: sql`${sessions.generation} + 1`, refreshed_at: Date.now() })
    .where(and(eq(sessions.id, id), eq(sessions.awaits, false)))
    .returning();
  if (!account || !session) return { refusal: "session_not_found" };
  if (isNew) sendSecurityNotice(c, user, { event: "identity_linked", session: id, device: session.device ?? "" });
  return { session: await toSession(c, account, createSessionTokens(c.env, session)) };
};

/** Exchanges a code for a session. A code of an identity without an account is kept for the registration. */
export const exchangeAuthCode = async (c: AppContext, grant: PkceGrant): Promise<CodeGrantResult> => {
  const db = openDb(c.env);
  const row = await findAuthCode(db, grant);
  if (typeof row === "string") return { refusal: row };
  const identity = findCodeIdentity(row);
  const isLink = identity !== undefined && row.user_id !== null;
  if (isLink) return linkIdentity(c, row, identity);
  const owner = identity && (await findIdentityOwner(db, identity));
  const user = owner?.user_id ?? row.user_id;
  const account = user === null ? undefined : await findAccount(db, user);
  if (identity && (!account || !owner)) return { refusal: "phone_needed", name: identity.name ?? null };
  const identityPreconditions = owner && identity ? [toIdentityPreconditions({ ...identity, ...owner })] : [];
  const session =
    account &&
    (await startSession(
      c,
      account,
      row.method,
      joinPreconditions(toAuthCodePreconditions(row.hash), ...identityPreconditions),
    ));
  if (!session) return { refusal: "flow_state_not_found" };
  if (identity) await recordIdentityUse(db, identity);
  return { session };
};

/**
 * Identity for a registration: known to a provider and not linked to any account. The code stays valid until the
 * account is created.
 */
export const findUnlinkedIdentity = async (db: Db, grant: PkceGrant): Promise<UnlinkedIdentity | CodeGrantRefusal> => {
  const row = await findAuthCode(db, grant);
  if (typeof row === "string") return row;
  const identity = findCodeIdentity(row);
  if (!identity || row.user_id !== null) return "flow_state_not_found";
  return (await findIdentityOwner(db, identity)) === undefined
    ? { ...identity, codeHash: row.hash }
    : "identity_already_exists";
};
