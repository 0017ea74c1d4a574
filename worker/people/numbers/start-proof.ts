import { randomBytes, randomInt } from "node:crypto";
import type * as v from "valibot";
import {
  isStrongerProof,
  type NumberProof,
  type NumberProofStart,
  numberMethods,
  sendsCode,
} from "#contract/auth/number.ts";
import type { Challenge } from "#contract/auth/sign-in.ts";
import { toVouchingPath } from "#contract/auth/vouching.ts";
import type { ErrorCode } from "#contract/errors.ts";
import { createUuid } from "#contract/ids.ts";
import { hourMs } from "#contract/limits/durations.ts";
import {
  newAccountHours,
  numberCodeDigits,
  numberProofMinutes,
  vouchingHours,
} from "#contract/limits/phone-numbers.ts";
import { redeemProofOfWork, serveProofChallenge } from "#worker/auth/proof-of-work.ts";
import { findReauthenticationExpiry } from "#worker/auth/second-factor/reauthentication.ts";
import { openDb } from "#worker/db/client.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { getRequestLanguage } from "#worker/lib/http/content-negotiation.ts";
import { findPublicOrigin, getPublicOrigin } from "#worker/lib/http/public-origin.ts";
import { hashLimitKey } from "#worker/lib/limits/hashed-key.ts";
import { readLimitFactor } from "#worker/lib/limits/local-limits.ts";
import { type RateLimitName, returnToken, takeToken, takeTokens } from "#worker/lib/limits/rate-limit.ts";
import { findAdapter, type NumberAdapter, readNumberSettings } from "#worker/lib/number-adapters.ts";
import { drawQrCode } from "#worker/lib/qr-code.ts";
import { readBudgetLevels, takeProofStart } from "./proof-counts.ts";
import { toCallLookup, toCodeHash, toMessageLookup, toVouchingLookup } from "./proof-hashes.ts";
import { deleteNumberProof, findNumber, insertNumberProof, type NumberProofRow } from "./queries.ts";
import { sendCode } from "./send-code.ts";
import { hasVouchers } from "./vouching-queries.ts";

type Refusal = { refusal: ErrorCode; retryAfterMs?: number };
type LimitBucket = [RateLimitName, string];
type Started = { proof: NumberProof } | Refusal;

const createCode = (): string => String(randomInt(10 ** numberCodeDigits)).padStart(numberCodeDigits, "0");

// Crockford's base 32: no letter can be mistaken for another when it is copied by hand.
const tokenLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const tokenLength = 8; // 40 bits, of use to nobody but the number's owner
const createMessageToken = (): string =>
  `LISOLO-${[...randomBytes(tokenLength)].map((byte) => tokenLetters[byte % tokenLetters.length]).join("")}`;

type ProofBase = Omit<NumberProofRow, "attempts" | "is_refused" | "code_hash" | "lookup">;

/** Inserts the proof of a call, for the first of the adapter's numbers that awaits no other caller of this number. */
const insertCallProof = async (
  c: AppContext,
  { numbers }: Extract<NumberAdapter, { method: "missed_call" }>,
  base: ProofBase,
): Promise<string | undefined> => {
  for (const to of numbers) {
    const proof = { ...base, code_hash: null, lookup: toCallLookup(c.env, base.phone, to) };
    if (await insertNumberProof(openDb(c.env), proof)) return to;
  }
  return undefined;
};

const insertAndAsk = async (c: AppContext, adapter: NumberAdapter, base: ProofBase): Promise<Started> => {
  const db = openDb(c.env);
  const toStarted = (ask: NumberProof["ask"]): Started => ({
    proof: { id: base.id, expires_at: base.expires_at, ask },
  });
  if (adapter.method === "missed_call") {
    const to = await insertCallProof(c, adapter, base);
    return to === undefined ? { refusal: "number_call_expected" } : toStarted({ kind: "call", to });
  }
  if (adapter.method === "whatsapp_message") {
    const text = createMessageToken();
    await insertNumberProof(db, { ...base, code_hash: null, lookup: toMessageLookup(c.env, text) });
    const url = `https://wa.me/${adapter.number.slice(1)}?text=${encodeURIComponent(text)}`;
    return toStarted({ kind: "message", to: adapter.number, text, url });
  }
  const code = createCode();
  await insertNumberProof(db, { ...base, code_hash: toCodeHash(c.env, base.id, code), lookup: null });
  const origin = findPublicOrigin(c);
  const host = origin && new URL(origin).hostname;
  const { secrets } = readNumberSettings(c.env);
  const language = getRequestLanguage(c);
  if (await sendCode(adapter, secrets, { to: base.phone, code, language, host })) return toStarted({ kind: "code" });
  await deleteNumberProof(db, base.id);
  return { refusal: "number_code_not_sent" };
};

type OwnNumberRow = NonNullable<Awaited<ReturnType<typeof findNumber>>>;

/**
 * Whether contacts can vouch for the number that a person has: only while nobody has proved it by the SIM. A number
 * that somebody else proved has to be verified again by something stronger, and contacts have not seen a new one in
 * use.
 */
export const isVouchingOffered = async (c: AppContext, own: OwnNumberRow, now: number): Promise<boolean> =>
  own.phone !== "" &&
  own.verified_at === null &&
  findPublicOrigin(c) !== undefined &&
  (await hasVouchers(openDb(c.env), c.var.caller.user, now));

/** Link that a person shows for a proof by vouching, and its QR code. */
export const toVouchingAsk = (c: AppContext, token: string): NumberProof["ask"] => {
  const url = getPublicOrigin(c) + toVouchingPath(token);
  return { kind: "vouching", url, qr_code: drawQrCode(url) };
};

const createVouchingToken = (): string => randomBytes(16).toString("base64url");

/** Starts a proof by vouching, which costs nothing and belongs to no adapter. */
const startVouching = async (c: AppContext, own: OwnNumberRow, now: number): Promise<Started> => {
  const db = openDb(c.env);
  if (!(await isVouchingOffered(c, own, now))) return { refusal: "number_method_unavailable" };
  const { user, session } = c.var.caller;
  const taken = await takeToken(db, user, "number_proof_by_user");
  if (!taken.ok) return { refusal: "number_proofs_used_up", retryAfterMs: taken.retryAfterMs };
  const token = createVouchingToken();
  const [id, expires_at] = [createUuid(now), now + vouchingHours * hourMs];
  await insertNumberProof(db, {
    id,
    user_id: user,
    session_id: session,
    phone: own.phone,
    method: "vouching",
    adapter: "",
    code_hash: null,
    lookup: toVouchingLookup(c.env, token),
    created_at: now,
    expires_at,
  });
  return { proof: { id, expires_at, ask: toVouchingAsk(c, token) } };
};

/** Adapters that send codes to a number. */
const listCodeAdapters = (env: object, phone: string): NumberAdapter[] =>
  numberMethods.filter(sendsCode).flatMap((method) => findAdapter(env, phone, method) ?? []);

const readCodeLevels = (c: AppContext, phone: string, now: number): Promise<number> =>
  readBudgetLevels(openDb(c.env), listCodeAdapters(c.env, phone), now);

/** Challenge for a code to the caller's own number, or to a new one: harder as the day's codes are used up. */
export const serveNumberChallenge = async (c: AppContext, newPhone: string | undefined): Promise<Challenge> => {
  const now = Date.now();
  const subject = newPhone ?? (await findNumber(openDb(c.env), c.var.caller.user, now))?.phone ?? "";
  return serveProofChallenge(c, { action: "number_code", subject }, await readCodeLevels(c, subject, now));
};

/**
 * Limits that a code to a number counts for: of the number, whoever asks, and of a young account. A code that is sent
 * again goes to no further number.
 */
const listCodeLimits = (c: AppContext, own: OwnNumberRow | undefined, phone: string, now: number): LimitBucket[] => {
  const { user } = c.var.caller;
  const isYoung = own !== undefined && now - own.created_at < newAccountHours * hourMs;
  const isForeign = phone !== own?.phone && phone !== own?.provedPhone;
  return [
    ["number_code_by_number", hashLimitKey(c.env, phone)],
    ...(isYoung && readLimitFactor(c.env) === 1
      ? [
          ["new_number_code_by_user", user] satisfies LimitBucket,
          ...(isForeign ? [["new_foreign_number_by_user", user] satisfies LimitBucket] : []),
        ]
      : []),
  ];
};

/** Starts the proof of the caller's own number, or of a new one in its place, by a method. */
export const startNumberProof = async (
  c: AppContext,
  { method, phone: newPhone, captcha_token }: v.InferOutput<typeof NumberProofStart>,
): Promise<Started> => {
  const db = openDb(c.env);
  const { user, session } = c.var.caller;
  const now = Date.now();
  const own = await findNumber(db, user, now);
  const phone = newPhone ?? own?.phone ?? "";
  const isStronger = Boolean(own?.verified_by && isStrongerProof(method, own.verified_by));
  if (own?.phone === phone && own.verified_at !== null && own.contested_at === null && !isStronger)
    return { refusal: "number_already_verified" };
  // Whoever has an open session only must not replace the number by which its owner signs in.
  if (own?.phone !== phone && (await findReauthenticationExpiry(db, c.var.caller, Date.now())) === null)
    return { refusal: "reauthentication_needed" };
  if (own && own.phone === phone && method === "vouching") return startVouching(c, own, now);
  const adapter = findAdapter(c.env, phone, method);
  if (!adapter) return { refusal: "number_method_unavailable" };
  const buckets: LimitBucket[] = [["number_proof_by_user", user]];
  // Only what is sent to a number counts for it: nobody can keep its owner from sending or calling.
  if (sendsCode(method)) {
    const purpose = { action: "number_code", subject: phone } as const;
    if (!(await redeemProofOfWork(c, captcha_token, purpose, { addedLevels: await readCodeLevels(c, phone, now) })))
      return { refusal: "captcha_failed" };
    buckets.push(...listCodeLimits(c, own, phone, now));
  }
  const taken = await takeTokens(db, buckets);
  if (!taken.ok) return { refusal: "number_proofs_used_up", retryAfterMs: taken.retryAfterMs };
  if (!(await takeProofStart(db, adapter, { phone, isOwn: phone === own?.phone }, now))) {
    for (const [name, key] of buckets) await returnToken(db, key, name);
    return { refusal: "number_method_unavailable" };
  }
  return insertAndAsk(c, adapter, {
    id: createUuid(now),
    user_id: user,
    session_id: session,
    phone,
    method,
    adapter: adapter.id,
    created_at: now,
    expires_at: now + numberProofMinutes * 60_000,
  });
};
