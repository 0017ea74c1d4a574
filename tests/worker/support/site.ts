import { env, exports } from "cloudflare:workers";
import {
  type Answer,
  type Call,
  callSite,
  nameOf,
  type Person,
  phoneOf,
  type Site,
  testPassword,
} from "#tests/support/people/people.ts";
import { hashPassword } from "#worker/auth/passwords.ts";
import { insertUser } from "#worker/auth/queries.ts";
import { createSessionRow, createSessionTokens, insertSession } from "#worker/auth/sessions/sessions.ts";
import { openDb } from "#worker/db/client.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";
import { hashLimitKey } from "#worker/lib/limits/hashed-key.ts";
import { emptyBuckets, type RateLimitName, rateLimitPolicies } from "#worker/lib/limits/rate-limit.ts";
import { takePersonNumber } from "./person-numbers.ts";

const sessionCookie = /^__Host-lisolo-(at|rt|device)=[^;]*; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/;
const internalDetails = /\n\s*at |\/worker\/|SQLITE_|D1_ERROR|Failed query|SELECT |INSERT INTO|\$scrypt\$/;

/** Checks rules for every answer: cookies have all their flags, and errors reveal no internal details. */
const checkResponse = async (response: Response): Promise<Response> => {
  const odd = response.headers.getSetCookie().find((cookie) => !sessionCookie.test(cookie));
  if (odd !== undefined) throw new Error(`a cookie without its flags: ${odd.replace(/=[^;]*/, "=…")}`);
  if (response.status >= 400 && internalDetails.test(await response.clone().text())) {
    throw new Error(`an error that tells of the inside: ${await response.text()}`);
  }
  return response;
};

/** The Worker under test, reached as a browser or another client reaches it. */
export const site: Site = {
  origin: "https://lisolo.test",
  fetch: async (url, init) => checkResponse(await exports.default.fetch(url, init)),
};

export const call = (method: string, path: string, options?: Call): Promise<Answer> =>
  callSite(site, method, path, options);

let passwordHash: Promise<string> | undefined;

/**
 * Makes a signed-in person. Uses the Worker's own functions instead of sign-up, whose proof of work and password hash
 * would take most of a test's time.
 */
export const makePerson = async (): Promise<Person> => {
  const n = takePersonNumber();
  passwordHash ??= hashPassword(env, testPassword);
  const db = openDb(env);
  const user = await insertUser(db, { phone: phoneOf(n), username: nameOf(n), password_hash: await passwordHash });
  if (!user) throw new Error(`person ${n} exists already`);
  const now = Date.now();
  const session = createSessionRow(user.id, now, { proved_at: now });
  await insertSession(db, session);
  return {
    id: user.id,
    phone: user.phone,
    password: testPassword,
    username: user.username,
    token: await signAccessToken(env, { sub: user.id, sid: session.id, gen: 0 }),
    refreshToken: createSessionTokens(env, session).refresh_token,
  };
};

/** Headers that the browser app sends with its own requests. */
export const cookieSite = { "x-session-transport": "cookie", origin: site.origin };

/** `Cookie` header of a browser that stored an answer's cookies, without expired ones. */
export const toCookieHeader = ({ headers }: Pick<Answer, "headers">): string =>
  headers
    .getSetCookie()
    .filter((cookie) => !/; Max-Age=0\b/.test(cookie))
    .map((cookie) => cookie.split(";")[0])
    .join("; ");

/** Key of a limit for a number or for the network of an address; "local" where a test names no address. */
export const toLimitKey = (name: string): string => hashLimitKey(env, name);

/** Empties a person's bucket of a limit for far longer than a test takes. */
export const drainBucket = (name: RateLimitName, key: string): Promise<unknown> =>
  env.DB.prepare("INSERT OR REPLACE INTO rate_limits VALUES (?, ?)")
    .bind(`${name}:${key}`, Date.now() + rateLimitPolicies[name].burst * rateLimitPolicies[name].everyMs + 60_000)
    .run();

/** Refills every bucket of a limit. */
export const refillBuckets = async (name: RateLimitName): Promise<void> => {
  await env.DB.prepare("DELETE FROM rate_limits WHERE key GLOB ?").bind(`${name}:*`).run();
  emptyBuckets.clear();
};
