import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { testPassword } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { call, cookieSite, drainBucket, makePerson, toCookieHeader } from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { refreshCookie } from "#worker/lib/http/cookies.ts";

const refresh = (refresh_token: string) =>
  call("POST", "/api/auth/token?grant_type=refresh_token", { body: { refresh_token } });
const renewed = async (refresh_token: string): Promise<Session> => {
  const { status, body } = await refresh(refresh_token);
  expect(status).toBe(200);
  return body as Session;
};
const use = (token: string) => call("GET", "/api/auth/user", { token });

/** Makes the last renewal of the person's sessions older by this many seconds. */
const letPass = (person: { id: string }, seconds: number) =>
  env.DB.prepare(
    "UPDATE sessions SET refreshed_at = refreshed_at - ?1, created_at = created_at - ?1 WHERE user_id = ?2",
  )
    .bind(seconds * 1_000, person.id)
    .run();

const reused = { status: 400, body: { error_code: "refresh_token_already_used" } };
const unknown = { status: 400, body: { error_code: "refresh_token_not_found" } };
const ended = { status: 401, body: { error_code: "session_not_found" } };

test("each refresh returns a new refresh token", async () => {
  const person = await makePerson();
  const second = await renewed(person.refreshToken);
  const third = await renewed(second.refresh_token);
  expect(new Set([person.refreshToken, second.refresh_token, third.refresh_token]).size).toBe(3);
  expect(third.user.id).toBe(person.id);
  expect(await use(third.access_token)).toMatchObject({ status: 200 });
});

test("two tabs that refresh at once stay signed in with the same successor", async () => {
  const person = await makePerson();
  const answers = await Promise.all(Array.from({ length: 8 }, () => renewed(person.refreshToken)));
  expect(new Set(answers.map(({ refresh_token }) => refresh_token)).size).toBe(1);
  for (const { access_token } of answers) expect((await use(access_token)).status).toBe(200);
});

test("the parent token returns the same successor for ten seconds, and then ends the session", async () => {
  const person = await makePerson();
  advanceClock(0); // however long the machine takes
  const child = await renewed(person.refreshToken);
  expect((await use(child.access_token)).status).toBe(200);
  await letPass(person, 8);
  expect((await renewed(person.refreshToken)).refresh_token).toBe(child.refresh_token);
  await letPass(person, 3);
  expect(await refresh(person.refreshToken)).toMatchObject(reused);
  expect(await refresh(child.refresh_token)).toMatchObject(unknown);
  expect(await use(child.access_token)).toMatchObject(ended);
});

test("a successor whose answer was lost, and that was never used, is returned again later", async () => {
  const person = await makePerson();
  const lost = await renewed(person.refreshToken);
  await letPass(person, 3_600);
  const again = await renewed(person.refreshToken);
  expect(again.refresh_token).toBe(lost.refresh_token);
  expect((await use(again.access_token)).status).toBe(200);
  expect(await refresh(person.refreshToken)).toMatchObject(reused);
});

test("a token two generations old ends its session at once everywhere, and no other session", async () => {
  const person = await makePerson();
  const other = (
    await call("POST", "/api/auth/token?grant_type=password", { body: { phone: person.phone, password: testPassword } })
  ).body as Session;
  const child = await renewed(person.refreshToken);
  const grandchild = await renewed(child.refresh_token);
  expect(await refresh(person.refreshToken)).toMatchObject(reused);
  expect(await refresh(grandchild.refresh_token)).toMatchObject(unknown);
  expect(await use(grandchild.access_token)).toMatchObject(ended);
  expect(await use(other.access_token)).toMatchObject({ status: 200 });
});

/** Copies the person's sessions; the function returned restores them, as a database restored from a copy does. */
const copySessions = async (person: { id: string }) => {
  const { results } = await env.DB.prepare("SELECT * FROM sessions WHERE user_id = ?").bind(person.id).all();
  return async () => {
    await env.DB.prepare("DELETE FROM sessions WHERE user_id = ?").bind(person.id).run();
    for (const row of results) {
      const names = Object.keys(row);
      await env.DB.prepare(`INSERT INTO sessions (${names}) VALUES (${names.map(() => "?")})`)
        .bind(...Object.values(row))
        .run();
    }
  };
};

test("a restored database continues a session from the newest token, also after many renewals", async () => {
  const person = await makePerson();
  const restore = await copySessions(person);
  let newest = await renewed(person.refreshToken);
  for (let n = 0; n < 5; n++) newest = await renewed(newest.refresh_token);
  await restore();
  expect((await use(newest.access_token)).status).toBe(200);
  const next = await renewed(newest.refresh_token);
  expect((await use(next.access_token)).status).toBe(200);
  expect((await use((await renewed(next.refresh_token)).access_token)).status).toBe(200);
});

test("two tabs that renew at once after a restore get the same successor", async () => {
  const person = await makePerson();
  const restore = await copySessions(person);
  const newest = await renewed((await renewed(person.refreshToken)).refresh_token);
  await restore();
  const answers = await Promise.all(Array.from({ length: 4 }, () => renewed(newest.refresh_token)));
  expect(new Set(answers.map(({ refresh_token }) => refresh_token)).size).toBe(1);
});

test("after a restore a stolen older token still ends the session once the owner's newer one was used", async () => {
  const person = await makePerson();
  const restore = await copySessions(person);
  const stolen = await renewed(person.refreshToken);
  const newest = await renewed((await renewed(stolen.refresh_token)).refresh_token);
  await restore();
  await renewed(stolen.refresh_token); // the copy does not know that it was exchanged before
  const next = await renewed(newest.refresh_token);
  expect(await refresh(stolen.refresh_token)).toMatchObject(reused);
  expect(await use(next.access_token)).toMatchObject(ended);
});

test("a session ends after 30 days without use, and after 90 days in any case", async () => {
  const [idle, old] = [await makePerson(), await makePerson()];
  const day = 86_400;
  await letPass(idle, 30 * day + 60);
  expect(await refresh(idle.refreshToken)).toMatchObject({ status: 401, body: { error_code: "session_expired" } });
  expect(await refresh(idle.refreshToken)).toMatchObject(unknown);

  let token = old.refreshToken;
  for (let month = 0; month < 3; month++) {
    await letPass(old, 29 * day);
    token = (await renewed(token)).refresh_token;
  }
  await letPass(old, 4 * day);
  expect(await refresh(token)).toMatchObject({ status: 401, body: { error_code: "session_expired" } });
});

test("an unknown refresh token is refused", async () => {
  const person = await makePerson();
  const spoilt = Buffer.from(person.refreshToken, "base64url");
  spoilt.writeUInt8((spoilt[51] ?? 0) ^ 1, 51);
  const ahead = Buffer.from(person.refreshToken, "base64url");
  ahead.writeUInt32BE(7, 16);
  const tokens = [
    "",
    "x",
    person.token.slice(0, 200),
    spoilt.toString("base64url"),
    ahead.toString("base64url"),
    `${person.refreshToken}=`,
  ];
  for (const token of tokens) expect(await refresh(token)).toMatchObject(unknown);
  expect(await refresh(person.refreshToken)).toMatchObject({ status: 200 });
});

test("a session's id alone neither blocks its renewal nor adds rows", async () => {
  const person = await makePerson();
  const forged = Buffer.from(person.refreshToken, "base64url");
  for (let n = 0; n < 40; n++) {
    forged.writeUInt8(n, 51);
    const token = forged.toString("base64url");
    if (token !== person.refreshToken) expect(await refresh(token)).toMatchObject(unknown);
  }
  const session = (await env.DB.prepare("SELECT id FROM sessions WHERE user_id = ?").bind(person.id).first())?.["id"];
  const kept = await env.DB.prepare("SELECT count(*) AS n FROM rate_limits WHERE key LIKE ?")
    .bind(`%${session}`)
    .first();
  expect(kept).toEqual({ n: 0 });
  expect((await refresh(person.refreshToken)).status).toBe(200);
});

test("a session is renewed at most thirty times in a row, then refused with the time to wait", async () => {
  const person = await makePerson();
  const row = await env.DB.prepare("SELECT id FROM sessions WHERE user_id = ?").bind(person.id).first<{ id: string }>();
  await drainBucket("refresh_by_session", row?.id ?? "");
  const held = await refresh(person.refreshToken);
  expect(held).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  expect(Number(held.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await use(person.token)).status).toBe(200);
});

test("a refresh token is not accepted as an access token", async () => {
  const person = await makePerson();
  expect(await use(person.refreshToken)).toMatchObject({ status: 401, body: { error_code: "bad_jwt" } });
});

test("nothing stored in the database can be used as a session", async () => {
  const person = await makePerson();
  const row = await env.DB.prepare("SELECT * FROM sessions WHERE user_id = ?").bind(person.id).first();
  for (const value of Object.values(row ?? {})) expect(await refresh(String(value))).toMatchObject(unknown);
});

test("the browser refreshes by its cookie, and a refusal clears the cookies", async () => {
  const person = await makePerson();
  const signIn = await call("POST", "/api/auth/token?grant_type=password", {
    headers: cookieSite,
    body: { phone: person.phone, password: testPassword },
  });
  const refreshBy = (cookie: string) =>
    call("POST", "/api/auth/token?grant_type=refresh_token", { headers: { ...cookieSite, cookie }, body: {} });
  const first = toCookieHeader(signIn);
  const second = await refreshBy(first);
  expect(second).toMatchObject({ status: 200, body: { access_token: "", refresh_token: "" } });
  expect(toCookieHeader(second)).not.toBe(first);
  const me = await call("GET", "/api/auth/user", { headers: { cookie: toCookieHeader(second) } });
  expect(me).toMatchObject({ status: 200, body: { id: person.id } });

  await refreshBy(toCookieHeader(second));
  const refused = await refreshBy(first);
  expect(refused).toMatchObject(reused);
  expect(refused.headers.getSetCookie().every((cookie) => cookie.includes("Max-Age=0"))).toBe(true);
});

test("two tabs that refresh at once with the same cookie get the same session", async () => {
  const person = await makePerson();
  const signIn = await call("POST", "/api/auth/token?grant_type=password", {
    headers: cookieSite,
    body: { phone: person.phone, password: testPassword },
  });
  const cookie = toCookieHeader(signIn);
  const tabs = await Promise.all(
    Array.from({ length: 6 }, () =>
      call("POST", "/api/auth/token?grant_type=refresh_token", { headers: { ...cookieSite, cookie }, body: {} }),
    ),
  );
  const refreshCookies = tabs.map((tab) =>
    toCookieHeader(tab)
      .split("; ")
      .filter((one) => one.startsWith("__Host-lisolo-rt=")),
  );
  expect(new Set(refreshCookies.flat()).size).toBe(1);
  for (const tab of tabs) {
    expect(tab.status).toBe(200);
    // Each tab overwrites the cookies of the other's answer. Both continue with the last one.
    const me = await call("GET", "/api/auth/user", { headers: { cookie: toCookieHeader(tab) } });
    expect(me).toMatchObject({ status: 200, body: { id: person.id } });
    const next = { headers: { ...cookieSite, cookie: toCookieHeader(tab) }, body: {} };
    expect((await call("POST", "/api/auth/token?grant_type=refresh_token", next)).status).toBe(200);
  }
  const rows = await env.DB.prepare("SELECT count(*) AS n FROM sessions WHERE user_id = ?").bind(person.id).first();
  expect(rows).toEqual({ n: 2 });
});

test("an access token is not accepted as a refresh token, in the body or as the cookie", async () => {
  const person = await makePerson();
  expect(await refresh(person.token.slice(0, 256))).toMatchObject(unknown);
  const headers = { ...cookieSite, cookie: `__Host-lisolo-rt=${person.token}` };
  const answer = await call("POST", "/api/auth/token?grant_type=refresh_token", { headers, body: {} });
  expect(answer).toMatchObject(unknown);
  const asAccess = { headers: { cookie: `__Host-lisolo-at=${person.refreshToken}` } };
  expect(await call("GET", "/api/auth/user", asAccess)).toMatchObject({ status: 401, body: { error_code: "bad_jwt" } });
});

test("a cookie counts only for requests with the cookie transport", async () => {
  const person = await makePerson();
  const answer = await call("POST", "/api/auth/token?grant_type=refresh_token", {
    headers: { origin: cookieSite.origin, cookie: `__Host-lisolo-rt=${person.refreshToken}` },
    body: {},
  });
  expect(answer).toMatchObject(unknown);
});

test("a forged refresh token is refused at every route without a statement", async () => {
  const ana = await makePerson();
  const statements: string[] = [];
  const DB = {
    prepare: (query: string) => {
      statements.push(query);
      return env.DB.prepare(query);
    },
    batch: (list: D1PreparedStatement[]) => env.DB.batch(list),
  };
  const bytes = Buffer.from(ana.refreshToken, "base64url");
  bytes[3] = (bytes[3] ?? 0) ^ 1; // another session
  const forged = bytes.toString("base64url");
  const body = { refresh_token: forged };
  expect(await callWith({ DB }, "POST", "/api/auth/token?grant_type=refresh_token", { body })).toMatchObject(unknown);
  const headers = { cookie: `${refreshCookie}=${forged}`, origin: "https://lisolo.test" };
  const logout = await callWith({ DB }, "POST", "/api/auth/logout", { headers });
  expect(logout.status).toBe(401);
  expect(statements).toEqual([]);
});
