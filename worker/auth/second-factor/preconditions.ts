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
export type Ground = { holds: SQL[]; uses: Row[] };
type Row = { table: SQLiteTable; where: SQL };

const rowOf = (table: SQLiteTable, ...same: [AnyColumn, unknown][]): Row => ({
  table,
  where: sql`(${sql.join(
    same.map(([column, value]) => sql`${column} = ${value}`),
    sql` AND `,
  )})`,
});
const isThere = ({ table, where }: Row): SQL => sql`EXISTS (SELECT 1 FROM ${table} WHERE ${where})`;

const on = (...rows: Row[]): Ground => ({ holds: rows.map(isThere), uses: [] });
const onceOn = (row: Row): Ground => ({ holds: [isThere(row)], uses: [row] });

export const together = (...grounds: Ground[]): Ground => ({
  holds: grounds.flatMap(({ holds }) => holds),
  uses: grounds.flatMap(({ uses }) => uses),
});

/** Nothing has to hold: an account that was made in this moment. */
export const onNothing: Ground = together();

type Known = { user_id: Uuid; password_hash: string };

/** The password is the one that it was: whoever changes it ends whatever began before. */
export const byPassword = ({ user_id, password_hash }: Known): Ground =>
  on(rowOf(users, [users.id, user_id], [users.password_hash, password_hash]));

export const byPasskey = ({ id, ...known }: Known & { id: Uuid }): Ground =>
  together(byPassword(known), on(rowOf(passkeys, [passkeys.id, id])));

export const byCodeApp = (id: Uuid): Ground => on(rowOf(factors, [factors.id, id], [factors.is_verified, 1]));

export const byRecoveryCode = (user: Uuid, hash: string): Ground =>
  onceOn(rowOf(recovery_codes, [recovery_codes.user_id, user], [recovery_codes.hash, hash]));

export const byMail = (hash: string): Ground => onceOn(rowOf(mailed_tokens, [mailed_tokens.hash, hash]));

/** A question that stands for the proof it was put after. */
export const byQuestion = (id: Uuid, session: Uuid): Ground =>
  onceOn(rowOf(ceremonies, [ceremonies.id, id], [ceremonies.session_id, session]));

export const byAuthCode = (hash: string): Ground => onceOn(rowOf(auth_codes, [auth_codes.hash, hash]));

export const byIdentity = ({ provider, subject, ...known }: Known & { provider: string; subject: string }): Ground =>
  together(
    byPassword(known),
    on(
      rowOf(
        identities,
        [identities.provider, provider],
        [identities.subject, subject],
        [identities.user_id, known.user_id],
      ),
    ),
  );

/** A whole session that something was begun in. */
export const inSession = (id: Uuid, user: Uuid): Ground =>
  on(rowOf(sessions, [sessions.id, id], [sessions.user_id, user], [sessions.awaits, 0]));

/** A session that owes its second step, and ends as the whole one begins. */
export const byHalf = (id: Uuid): Ground => onceOn(rowOf(sessions, [sessions.id, id], [sessions.awaits, 1]));
