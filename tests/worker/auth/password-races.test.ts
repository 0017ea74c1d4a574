import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { testPassword } from "#tests/support/people/people.ts";
import { call, makePerson } from "#tests/worker/support/site.ts";
import { hashPassword } from "#worker/auth/passwords.ts";
import { findOwnCredentials } from "#worker/auth/queries.ts";
import { toPasswordPreconditions } from "#worker/auth/second-factor/preconditions.ts";
import { createSessionRow, insertSession } from "#worker/auth/sessions/sessions.ts";
import { openDb } from "#worker/db/client.ts";

const sessionsOf = async (user: string): Promise<string[]> => {
  const { results } = await env.DB.prepare("SELECT id FROM sessions WHERE user_id = ?")
    .bind(user)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
};

test("a session that starts with a former password is invalid, and replaces no other session", async () => {
  const ana = await makePerson();
  const db = openDb(env);
  const before = await sessionsOf(ana.id);
  const password_hash = await hashPassword(env, "Former2026");
  for (const methods of ["password", "password totp"]) {
    const late = createSessionRow(ana.id, Date.now(), { methods });
    expect(await insertSession(db, late, toPasswordPreconditions({ user_id: ana.id, password_hash }))).toBeUndefined();
  }
  expect(await sessionsOf(ana.id)).toEqual(before);
  const own = await findOwnCredentials(db, ana.id);
  const ground = toPasswordPreconditions({ user_id: ana.id, password_hash: own?.password_hash ?? "" });
  expect(await insertSession(db, createSessionRow(ana.id, Date.now()), ground)).toBeDefined();
  expect(await sessionsOf(ana.id)).toHaveLength(before.length + 1);
});

test("a session started with the old password during a password change is ended", async () => {
  const ana = await makePerson();
  const { body: proof } = await call("POST", "/api/auth/proof", { token: ana.token, body: { password: testPassword } });
  const signIn = () =>
    call("POST", "/api/auth/token?grant_type=password", { body: { phone: ana.phone, password: testPassword } });
  const change = () =>
    call("PUT", "/api/auth/user", { token: (proof as Session).access_token, body: { password: "Nouveau2026" } });
  const [changed, ...others] = await Promise.all([change(), signIn(), signIn(), signIn()]);
  expect(changed.status).toBe(200);
  expect(await sessionsOf(ana.id)).toHaveLength(1);
  for (const { status, body } of others) {
    if (status === 200)
      expect((await call("GET", "/api/auth/user", { token: (body as Session).access_token })).status).toBe(401);
    else expect(body).toMatchObject({ error_code: "invalid_credentials" });
  }
});
