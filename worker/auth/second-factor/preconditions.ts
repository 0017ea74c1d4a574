import { type AnyColumn, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Uuid } from "#contract/ids.ts";
import { sessions, users } from "#worker/db/schema.ts";
import {
  auth_codes,
  ceremonies,
  factors,
  identities,
  mailed_tokens,
  passkeys,
  recovery_codes,
} from "#worker/db/security-schema.ts";

/**
 * Conditions of a sign-in or reauthentication. Another device may revoke them between the check and the write, so all
 * `conditions` are evaluated in the batch that writes the session, which also deletes `consumedRows`.
 */
export type AuthPreconditions = { conditions: SQL[]; consumedRows: RowMatch[] };
type RowMatch = { table: SQLiteTable; where: SQL };

const toRowMatch = (table: SQLiteTable, ...columns: [AnyColumn, unknown][]): RowMatch => ({
  table,
  where: sql`(${sql.join(
    columns.map(([column, value]) => sql`${column} = ${value}`),
    sql` AND `,
  )})`,
});
const rowExists = ({ table, where }: RowMatch): SQL => sql`EXISTS (SELECT 1 FROM ${table} WHERE ${where})`;

const requireRows = (...rows: RowMatch[]): AuthPreconditions => ({ conditions: rows.map(rowExists), consumedRows: [] });
const requireAndConsumeRow = (row: RowMatch): AuthPreconditions => ({
  conditions: [rowExists(row)],
  consumedRows: [row],
});

export const joinPreconditions = (...preconditions: AuthPreconditions[]): AuthPreconditions => ({
  conditions: preconditions.flatMap(({ conditions }) => conditions),
  consumedRows: preconditions.flatMap(({ consumedRows }) => consumedRows),
});

/** No conditions: for an account created in this request. */
export const noPreconditions: AuthPreconditions = joinPreconditions();

type PasswordOwner = { user_id: Uuid; password_hash: string };

/** The password is unchanged. Changing it invalidates everything started before. */
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

/** Ceremony that proves an earlier reauthentication. */
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

/** Full session in which a change was started. */
export const toFullSessionPreconditions = (id: Uuid, user: Uuid): AuthPreconditions =>
  requireRows(toRowMatch(sessions, [sessions.id, id], [sessions.user_id, user], [sessions.awaits, 0]));

/** Pending session that is replaced by the full one. */
export const toPendingSessionPreconditions = (id: Uuid): AuthPreconditions =>
  requireAndConsumeRow(toRowMatch(sessions, [sessions.id, id], [sessions.awaits, 1]));
