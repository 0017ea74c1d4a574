import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { numberMethods } from "#contract/auth/number.ts";
import { mailedTypes } from "#contract/auth/security.ts";
import { sessions, users } from "./schema.ts";

/**
 * Authentication data of accounts besides the password. Reading it is not enough to authenticate: secrets are
 * encrypted, codes and tokens hashed, passkeys public keys.
 */

const ownerColumn = () =>
  text("user_id")
    .notNull()
    .references(() => users.id, { onDelete: "cascade" });

/** Security settings of an account; no row until one is changed. */
export const account_security = sqliteTable(
  "account_security",
  {
    user_id: text("user_id")
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    /** Confirmed recovery address. */
    email: text("email"),
    pending_email: text("pending_email"),
    /** WebAuthn user handle: random, so that a passkey's storage does not reveal whose account it belongs to. */
    user_handle: text("user_handle"),
    passkey_step: integer("passkey_step", { mode: "boolean" }).notNull().default(false),
    /** Recovery codes were created at least once. */
    has_codes: integer("has_codes", { mode: "boolean" }).notNull().default(false),
    reset_started_at: integer("reset_started_at"),
    /** Number of recent cancellations, and time up to which no new reset may be requested. */
    reset_stops: integer("reset_stops").notNull().default(0),
    reset_paused_until: integer("reset_paused_until").notNull().default(0),
  },
  (table) => [
    uniqueIndex("account_security_email").on(table.email),
    uniqueIndex("account_security_handle").on(table.user_handle),
  ],
);

/**
 * Code apps (TOTP). `secret` is encrypted (worker/auth/second-factor/secret-box.ts); `last_step` is the time step of
 * the last correct code.
 */
export const factors = sqliteTable(
  "factors",
  {
    id: text("id").primaryKey(),
    user_id: ownerColumn(),
    friendly_name: text("friendly_name").notNull(),
    secret: text("secret").notNull(),
    is_verified: integer("is_verified", { mode: "boolean" }).notNull().default(false),
    last_step: integer("last_step").notNull().default(0),
    created_at: integer("created_at").notNull(),
    updated_at: integer("updated_at").notNull(),
  },
  (table) => [index("factors_by_user").on(table.user_id)],
);

/** Unused recovery codes; a used code is deleted. */
export const recovery_codes = sqliteTable(
  "recovery_codes",
  { user_id: ownerColumn(), hash: text("hash").notNull() },
  (table) => [primaryKey({ columns: [table.user_id, table.hash] })],
);

export const passkeys = sqliteTable(
  "passkeys",
  {
    id: text("id").primaryKey(),
    credential_id: text("credential_id").notNull().unique(),
    user_id: ownerColumn(),
    public_key: text("public_key").notNull(),
    counter: integer("counter").notNull(),
    transports: text("transports").notNull().default(""),
    is_synced: integer("is_synced", { mode: "boolean" }).notNull(),
    name: text("name").notNull(),
    created_at: integer("created_at").notNull(),
    used_at: integer("used_at"),
  },
  (table) => [index("passkeys_by_user").on(table.user_id)],
);

/** Open challenges of code apps and passkeys. Each can be answered once, and the answer deletes the row. */
export const ceremonies = sqliteTable(
  "ceremonies",
  {
    id: text("id").primaryKey(),
    kind: text("kind", { enum: ["totp", "passkey_add", "passkey_step", "passkey_sign_in"] }).notNull(),
    /** Null for a sign-in by passkey, where the passkey identifies the person. */
    user_id: text("user_id").references(() => users.id, { onDelete: "cascade" }),
    session_id: text("session_id"),
    factor_id: text("factor_id"),
    challenge: text("challenge").notNull(),
    expires_at: integer("expires_at").notNull(),
  },
  (table) => [index("ceremonies_by_user").on(table.user_id), index("ceremonies_by_expiry").on(table.expires_at)],
);

/** Mailed tokens by their hash. The short code is hashed too and valid only together with the address. */
export const mailed_tokens = sqliteTable(
  "mailed_tokens",
  {
    hash: text("hash").primaryKey(),
    code_hash: text("code_hash").notNull(),
    user_id: ownerColumn(),
    type: text("type", { enum: mailedTypes }).notNull(),
    email: text("email").notNull(),
    /** Number of wrong codes typed for this token. */
    misses: integer("misses").notNull().default(0),
    code_challenge: text("code_challenge"),
    expires_at: integer("expires_at").notNull(),
  },
  (table) => [
    index("mailed_tokens_by_user").on(table.user_id),
    index("mailed_tokens_by_email").on(table.email),
    index("mailed_tokens_by_expiry").on(table.expires_at),
  ],
);

/** Linked accounts at other providers. */
export const identities = sqliteTable(
  "identities",
  {
    id: text("id").primaryKey(),
    user_id: ownerColumn(),
    provider: text("provider").notNull(),
    subject: text("subject").notNull(),
    email: text("email"),
    name: text("name"),
    created_at: integer("created_at").notNull(),
    used_at: integer("used_at").notNull(),
  },
  (table) => [
    uniqueIndex("identities_by_subject").on(table.provider, table.subject),
    index("identities_by_user").on(table.user_id),
  ],
);

/** OAuth flows in progress; `state` is hashed. */
export const oauth_flows = sqliteTable(
  "oauth_flows",
  {
    state: text("state").primaryKey(),
    provider: text("provider").notNull(),
    nonce: text("nonce").notNull(),
    verifier: text("verifier").notNull(),
    redirect_to: text("redirect_to").notNull(),
    code_challenge: text("code_challenge").notNull(),
    /** Person and session that requested a link; null for a sign-in. */
    user_id: text("user_id").references(() => users.id, { onDelete: "cascade" }),
    session_id: text("session_id"),
    expires_at: integer("expires_at").notNull(),
  },
  (table) => [index("oauth_flows_by_user").on(table.user_id), index("oauth_flows_by_expiry").on(table.expires_at)],
);

/**
 * Authorization codes in redirect URLs, by their hash. Each is valid for one session and only with the PKCE verifier of
 * the client. A code with an identity and without a user signs in the account linked to that identity.
 */
export const auth_codes = sqliteTable(
  "auth_codes",
  {
    hash: text("hash").primaryKey(),
    method: text("method", { enum: ["oauth", "recovery"] }).notNull(),
    user_id: text("user_id").references(() => users.id, { onDelete: "cascade" }),
    /** Session in which the identity is to be linked. */
    session_id: text("session_id"),
    provider: text("provider"),
    subject: text("subject"),
    email: text("email"),
    name: text("name"),
    code_challenge: text("code_challenge").notNull(),
    expires_at: integer("expires_at").notNull(),
  },
  (table) => [index("auth_codes_by_user").on(table.user_id), index("auth_codes_by_expiry").on(table.expires_at)],
);

/**
 * Started proofs of a number. A person has at most one, and it ends with its session. `code_hash`: of a sent code.
 * `lookup`: keyed hash by which a webhook or a contact finds the proof, of the token in the message or the QR code, or
 * of the two numbers of a call.
 */
export const number_proofs = sqliteTable(
  "number_proofs",
  {
    user_id: text("user_id")
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    id: text("id").notNull(),
    session_id: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    phone: text("phone").notNull(),
    method: text("method", { enum: numberMethods }).notNull(),
    adapter: text("adapter").notNull(),
    code_hash: text("code_hash"),
    lookup: text("lookup").unique(),
    /** Number of codes typed, right or wrong. */
    attempts: integer("attempts").notNull().default(0),
    /** Proved, but the number stays with its holder. Kept until it expires, so that the person learns of it. */
    is_refused: integer("is_refused", { mode: "boolean" }).notNull().default(false),
    created_at: integer("created_at").notNull(),
    expires_at: integer("expires_at").notNull(),
  },
  (table) => [
    index("number_proofs_by_session").on(table.session_id),
    index("number_proofs_by_expiry").on(table.expires_at),
  ],
);

/**
 * Confirmations of numbers by contacts, by the `lookup` of the proof. They outlive it, because each person may give few
 * of them a month, and name nobody but who gave them.
 */
export const number_vouches = sqliteTable(
  "number_vouches",
  {
    voucher_id: text("voucher_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    lookup: text("lookup").notNull(),
    created_at: integer("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.voucher_id, table.lookup] }),
    index("number_vouches_by_lookup").on(table.lookup),
    index("number_vouches_by_time").on(table.created_at),
  ],
);

/** Proofs of an adapter per day and range of numbers, started and completed. The range "" counts all of them. */
export const number_proof_counts = sqliteTable(
  "number_proof_counts",
  {
    adapter: text("adapter").notNull(),
    range: text("range").notNull(),
    day: integer("day").notNull(),
    started: integer("started").notNull().default(0),
    completed: integer("completed").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.day, table.adapter, table.range] })],
);
