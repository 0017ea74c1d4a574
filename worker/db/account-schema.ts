import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { mailedTypes } from "#contract/auth/security.ts";
import { users } from "./schema.ts";

/**
 * How people show who they are, besides the password. Nothing here can be shown by whoever only reads it: secrets are
 * encrypted, codes and tokens hashed, passkeys public.
 */

const ownerColumn = () =>
  text("user_id")
    .notNull()
    .references(() => users.id, { onDelete: "cascade" });

/** One row of whoever changed anything of it. */
export const account_security = sqliteTable(
  "account_security",
  {
    user_id: text("user_id")
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    /** The recovery address, once it was confirmed. */
    email: text("email"),
    pending_email: text("pending_email"),
    /** What passkeys know the person by: random, so that no phone tells who has an account where. */
    user_handle: text("user_handle"),
    passkey_step: integer("passkey_step", { mode: "boolean" }).notNull().default(false),
    /** There ever were recovery codes. */
    has_codes: integer("has_codes", { mode: "boolean" }).notNull().default(false),
    reset_started_at: integer("reset_started_at"),
    /** How often it was stopped lately, and until when nobody may ask for it again. */
    reset_stops: integer("reset_stops").notNull().default(0),
    reset_paused_until: integer("reset_paused_until").notNull().default(0),
  },
  (table) => [
    uniqueIndex("account_security_email").on(table.email),
    uniqueIndex("account_security_handle").on(table.user_handle),
  ],
);

/** Code apps. `secret` is encrypted (worker/auth/second-factor/secret-box.ts); `last_step` is the step of the last code that was right. */
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

/** A code that was used is gone. */
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

/** Questions that wait for one answer: asked of a code app, or of a passkey. Whoever answers takes the row away. */
export const ceremonies = sqliteTable(
  "ceremonies",
  {
    id: text("id").primaryKey(),
    kind: text("kind", { enum: ["totp", "passkey_add", "passkey_step", "passkey_sign_in"] }).notNull(),
    /** Nobody yet where a passkey is to say who it is. */
    user_id: text("user_id").references(() => users.id, { onDelete: "cascade" }),
    session_id: text("session_id"),
    factor_id: text("factor_id"),
    challenge: text("challenge").notNull(),
    expires_at: integer("expires_at").notNull(),
  },
  (table) => [index("ceremonies_by_user").on(table.user_id), index("ceremonies_by_expiry").on(table.expires_at)],
);

/** What was mailed, by its hash; of the short code too, which counts only together with the address. */
export const mailed_tokens = sqliteTable(
  "mailed_tokens",
  {
    hash: text("hash").primaryKey(),
    code_hash: text("code_hash").notNull(),
    user_id: ownerColumn(),
    type: text("type", { enum: mailedTypes }).notNull(),
    email: text("email").notNull(),
    /** Wrong codes typed for it. */
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

/** Accounts at other providers. */
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

/** Ways to a provider and back that somebody is on; `state` is hashed. */
export const oauth_flows = sqliteTable(
  "oauth_flows",
  {
    state: text("state").primaryKey(),
    provider: text("provider").notNull(),
    nonce: text("nonce").notNull(),
    verifier: text("verifier").notNull(),
    redirect_to: text("redirect_to").notNull(),
    code_challenge: text("code_challenge").notNull(),
    /** Whose account it is to be linked to, and in which session they asked. */
    user_id: text("user_id").references(() => users.id, { onDelete: "cascade" }),
    session_id: text("session_id"),
    expires_at: integer("expires_at").notNull(),
  },
  (table) => [index("oauth_flows_by_user").on(table.user_id), index("oauth_flows_by_expiry").on(table.expires_at)],
);

/**
 * Codes that an address brought back to the browser, by their hash, each good for one session and only together with the
 * browser's own verifier. With an identity and nobody: whoever the provider knows signs in, by the account linked to it.
 */
export const auth_codes = sqliteTable(
  "auth_codes",
  {
    hash: text("hash").primaryKey(),
    method: text("method", { enum: ["oauth", "recovery"] }).notNull(),
    user_id: text("user_id").references(() => users.id, { onDelete: "cascade" }),
    /** Where the identity is to be linked: in which session of that person. */
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
