import { type AnyColumn, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Uuid } from "#contract/ids.ts";
import {
  auth_codes,
  ceremonies,
  factors,
  identities,
  mailed_tokens,
  passkeys,
  recovery_codes,
} from "#worker/db/account-schema.ts";
import { sessions, users } from "#worker/db/schema.ts";

/**
 * What a sign-in or a step-up stands on. Between what was shown and the session that comes of it another device may take it
 * back, so all of `holds` is asked by the very batch that writes the session; `uses` are the rows that are used up by it.
 */
export type AuthPreconditions = { conditions: SQL[]; consumedRows: RowMatch[] };
type RowMatch = { table: SQLiteTable; where: SQL };

const toRowMatch = (table: SQLiteTable, ...same: [AnyColumn, unknown][]): RowMatch => ({
  table,
  where: sql`(${sql.join(
    same.map(([column, value]) => sql`${column} = ${value}`),
    sql` AND `,
  )})`,
});
const rowExists = ({ table, where }: RowMatch): SQL => sql`EXISTS (SELECT 1 FROM ${table} WHERE ${where})`;

const requireRows = (...rows: RowMatch[]): AuthPreconditions => ({ conditions: rows.map(rowExists), consumedRows: [] });
const requireAndConsumeRow = (row: RowMatch): AuthPreconditions => ({
  conditions: [rowExists(row)],
  consumedRows: [row],
});

export const joinPreconditions = (...grounds: AuthPreconditions[]): AuthPreconditions => ({
  conditions: grounds.flatMap(({ conditions }) => conditions),
  consumedRows: grounds.flatMap(({ consumedRows }) => consumedRows),
});

/** Nothing has to hold: an account that was made in this moment. */
export const noPreconditions: AuthPreconditions = joinPreconditions();

type PasswordOwner = { user_id: Uuid; password_hash: string };

/** The password is the one that it was: whoever changes it ends whatever began before. */
export const toPasswordPreconditions = ({ user_id, password_hash }: PasswordOwner): AuthPreconditions =>
  requireRows(toRowMatch(users, [users.id, user_id], [users.password_hash, password_hash]));

export const toPasskeyPreconditions = ({ id, ...known }: PasswordOwner & { id: Uuid }): AuthPreconditions =>
  joinPreconditions(toPasswordPreconditions(known), requireRows(toRowMatch(passkeys, [passkeys.id, id])));

export const toCodeAppPreconditions = (id: Uuid): AuthPreconditions =>
  requireRows(toRowMatch(factors, [factors.id, id], [factors.is_verified, 1]));

export const toRecoveryCodePreconditions = (user: Uuid, hash: string): AuthPreconditions =>
  requireAndConsumeRow(toRowMatch(recovery_codes, [recovery_codes.user_id, user], [recovery_codes.hash, hash]));

export const toMailedTokenPreconditions = (hash: string): AuthPreconditions =>
  requireAndConsumeRow(toRowMatch(mailed_tokens, [mailed_tokens.hash, hash]));

/** A question that stands for the proof it was put after. */
export const toCeremonyPreconditions = (id: Uuid, session: Uuid): AuthPreconditions =>
  requireAndConsumeRow(toRowMatch(ceremonies, [ceremonies.id, id], [ceremonies.session_id, session]));

export const toAuthCodePreconditions = (hash: string): AuthPreconditions =>
  requireAndConsumeRow(toRowMatch(auth_codes, [auth_codes.hash, hash]));

export const toIdentityPreconditions = ({
  provider,
  subject,
  ...known
}: PasswordOwner & { provider: string; subject: string }): AuthPreconditions =>
  joinPreconditions(
    toPasswordPreconditions(known),
    requireRows(
      toRowMatch(
        identities,
        [identities.provider, provider],
        [identities.subject, subject],
        [identities.user_id, known.user_id],
      ),
    ),
  );

/** A whole session that something was begun in. */
export const toFullSessionPreconditions = (id: Uuid, user: Uuid): AuthPreconditions =>
  requireRows(toRowMatch(sessions, [sessions.id, id], [sessions.user_id, user], [sessions.awaits, 0]));

/** A session that owes its second step, and ends as the whole one begins. */
export const toPendingSessionPreconditions = (id: Uuid): AuthPreconditions =>
  requireAndConsumeRow(toRowMatch(sessions, [sessions.id, id], [sessions.awaits, 1]));
