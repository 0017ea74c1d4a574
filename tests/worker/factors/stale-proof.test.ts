import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { createUuid } from "#contract/ids.ts";
import { testPassword } from "#tests/support/people/people.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";

/**
 * Changes to sign-in methods and account deletion are refused for a session without a recent proof. The tested routes
 * are those that document this refusal.
 */

type Documented = {
  paths: Record<
    string,
    Record<
      string,
      {
        responses: Record<
          string,
          {
            content?: {
              "application/json"?: { schema?: { allOf?: { properties?: { error_code?: { enum: string[] } } }[] } };
            };
          }
        >;
      }
    >
  >;
};

const { paths } = (await call("GET", "/api/openapi.json")).body as Documented;
const guarded = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([, { responses }]) =>
      responses["403"]?.content?.["application/json"]?.schema?.allOf?.some(({ properties }) =>
        properties?.error_code?.enum.includes("reauthentication_needed"),
      ),
    )
    .map(([method]) => `${method.toUpperCase()} ${path}`),
);

test("the table below contains every route that needs a fresh proof", () => {
  expect([...guarded].sort()).toEqual([
    "DELETE /api/account",
    "DELETE /api/auth/factors/{id}",
    "DELETE /api/auth/passkeys/{id}",
    "DELETE /api/auth/user/identities/{id}",
    "GET /api/auth/user/identities/authorize",
    "POST /api/auth/factors",
    "POST /api/auth/factors/{id}/verify", // the first code of a new factor: proof-expiry.test.ts
    "POST /api/auth/passkeys/registration/options", // a passkey answers its challenge in the same session
    "POST /api/auth/proof", // the password alone, where a second step is required
    "POST /api/auth/recovery-codes",
    "POST /api/number/proofs", // of a new number
    "PUT /api/auth/passkeys/second-step",
    "PUT /api/auth/user",
  ]);
});

const challenge = "a".repeat(43);

/** Body that each route would accept, so that only the proof is missing. */
const bodies: Record<string, (person: { id: string }) => object> = {
  "DELETE /api/account": ({ id }) => ({ user_id: id }),
  "POST /api/auth/factors": () => ({ factor_type: "totp" }),
  "POST /api/number/proofs": () => ({ method: "sms_code", phone: "+243810004321" }),
  "PUT /api/auth/passkeys/second-step": () => ({ second_step: true }),
  "PUT /api/auth/user": () => ({ password: "Nouveau2026", email: "voleur@evil.example" }),
};
const query = `?provider=kivu&code_challenge=${challenge}&code_challenge_method=s256`;

const ask = async (route: string, person: { id: string }, token: string, thing: string) => {
  const [method = "", path = ""] = route.split(" ");
  const body = bodies[route]?.(person);
  const address = path.replace("{id}", thing) + (path.endsWith("identities/authorize") ? query : "");
  return call(method, address, { token, ...(body ? { body } : {}) });
};

/** Confirmed code app, passkey and identity as rows; their content does not matter here. */
const rows = ["factors", "passkeys", "identities"] as const;
const seed = async (user: string, id: string) => {
  const now = Date.now();
  await env.DB.batch([
    env.DB.prepare("INSERT INTO factors VALUES (?, ?, 'Appli', 'x', 1, 0, ?, ?)").bind(id, user, now, now),
    env.DB.prepare(
      "INSERT INTO passkeys (id, credential_id, user_id, public_key, counter, is_synced, name, created_at) VALUES (?, ?, ?, 'x', 0, 0, 'Clé', ?)",
    ).bind(id, id, user, now),
    env.DB.prepare(
      "INSERT INTO identities (id, user_id, provider, subject, created_at, used_at) VALUES (?, ?, 'kivu', ?, ?, ?)",
    ).bind(id, user, id, now, now),
  ]);
};
const readAll = (user: string) =>
  env.DB.batch(
    [...rows, "recovery_codes", "account_security", "ceremonies", "oauth_flows", "mailed_tokens"]
      .map((name) => env.DB.prepare(`SELECT * FROM ${name} WHERE user_id = ?`).bind(user))
      .concat(env.DB.prepare("SELECT * FROM users WHERE id = ?").bind(user)),
  ).then((found) => found.map(({ results }) => results));

const askedElsewhere = ["POST /api/auth/proof", "POST /api/auth/factors/{id}/verify"];

test.each(guarded.filter((route) => !askedElsewhere.includes(route)))(
  "%s needs a fresh proof: none, an old one, or one later than the token is refused",
  async (route) => {
    const person = await makePerson();
    const thing = createUuid();
    await seed(person.id, thing);
    const before = await readAll(person.id);
    const staleIn = {
      none: "proved_at = 0",
      "five minutes ago": `proved_at = ${Date.now() - 300_001}`,
      "by a later token": `proved_at = ${Date.now()}, proved_generation = 1`,
    };
    for (const [when, change] of Object.entries(staleIn)) {
      await env.DB.prepare(`UPDATE sessions SET ${change} WHERE user_id = ?`).bind(person.id).run();
      const { status, body } = await ask(route, person, person.token, thing);
      expect({ when, status, body }).toMatchObject({ status: 403, body: { error_code: "reauthentication_needed" } });
    }
    expect(await readAll(person.id)).toEqual(before);
    expect((await call("GET", "/api/auth/user", { token: person.token })).status).toBe(200);
    // Another person's recent proof does not help, and their factors cannot be named.
    const other = await makePerson();
    await env.DB.prepare("UPDATE sessions SET proved_at = ?, proved_generation = 0 WHERE user_id = ?")
      .bind(Date.now(), other.id)
      .run();
    const { status } = await ask(route, person, other.token, thing);
    if (route.includes("{id}") || route.includes("account")) expect(status).toBe(404);
    expect(await readAll(person.id)).toEqual(before);
    // Only the proof was missing.
    await env.DB.prepare("UPDATE sessions SET proved_at = ?, proved_generation = 0 WHERE user_id = ?")
      .bind(Date.now(), person.id)
      .run();
    const { body } = await ask(route, person, person.token, thing);
    expect(body ?? {}).not.toMatchObject({ error_code: "reauthentication_needed" });
  },
);

test("every sign-in creates a separate session, whatever cookies the browser sent", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const idOf = (token: string): unknown =>
    JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).sid;
  const fixed = idOf(ben.token);
  const answer = await site.fetch(
    `${site.origin}/api/auth/token?grant_type=password&session_id=${fixed}&sid=${fixed}`,
    {
      method: "POST",
      headers: {
        "content-type": "application/json",
        origin: site.origin,
        cookie: `__Host-lisolo-at=${ben.token}; __Host-lisolo-rt=${ben.refreshToken}; sid=${fixed}`,
      },
      body: JSON.stringify({ phone: ana.phone, password: testPassword, session_id: fixed, sid: fixed }),
    },
  );
  expect(answer.status).toBe(200);
  const session = (await answer.json()) as Session;
  expect(session.user.id).toBe(ana.id);
  expect([idOf(ana.token), fixed]).not.toContain(idOf(session.access_token));
  expect((await call("GET", "/api/auth/user", { token: ben.token })).body).toMatchObject({ id: ben.id });
});
