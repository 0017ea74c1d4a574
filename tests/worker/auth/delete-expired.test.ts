import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { testPassword } from "#tests/support/people/people.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { seedPerson } from "#tests/worker/support/seeded-people.ts";
import { seedSecurity } from "#tests/worker/support/seeded-security.ts";
import { call, makePerson } from "#tests/worker/support/site.ts";

const passing = ["ceremonies", "mailed_tokens", "oauth_flows", "auth_codes"];

const leftOf = async (user: string): Promise<number[]> => {
  const counts = passing.map((name) =>
    env.DB.prepare(`SELECT count(*) AS n FROM ${name} WHERE user_id = ?`).bind(user).first<number>("n"),
  );
  return (await Promise.all(counts)).map((n) => n ?? 0);
};

test("expired rows are deleted at any sign-in, and no others", async () => {
  const [late, here, ana] = [await seedPerson(), await seedPerson(), await makePerson()];
  await seedSecurity(late.id, late.session, Date.now() - 1);
  await seedSecurity(here.id, here.session);
  expect(await leftOf(late.id)).toEqual([1, 1, 1, 1]);
  const body = { phone: ana.phone, password: testPassword };
  expect((await call("POST", "/api/auth/token?grant_type=password", { body })).status).toBe(200);
  await waitUntil(async () => (await leftOf(late.id)).every((n) => n === 0));
  expect(await leftOf(here.id)).toEqual([1, 1, 1, 1]);
});
