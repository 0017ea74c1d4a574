import { expect, test } from "vitest";
import type { Session } from "../../contract/auth";
import { codeOf, newGuarded, showCode, signInHalfway } from "./factored";
import { call } from "./site";

test("whoever has a code app signs in with a code after the password", async () => {
  const ana = await newGuarded();
  const half = await signInHalfway(ana);
  expect(half.awaits).toEqual(["totp"]);
  expect(await call("GET", "/api/contacts", { token: half.token })).toMatchObject({
    status: 401,
    body: { error_code: "insufficient_aal" },
  });
  const whole = await showCode(half, ana.factor, codeOf(ana.secret));
  expect(whole).toMatchObject({ status: 200, body: { user: { id: ana.id } } });
  const { access_token, awaits } = whole.body as Session;
  expect(awaits).toBeUndefined();
  expect((await call("GET", "/api/contacts", { token: access_token })).status).toBe(200);
  expect((await call("GET", "/api/auth/user", { token: half.token })).status).toBe(401);
});
