import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { type Person, testPassword } from "#tests/support/people/people.ts";
import { advanceClock, elapseTimers, suspendTimers } from "#tests/worker/support/clock.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { seedPerson } from "#tests/worker/support/seeded-people.ts";
import { applyMemoryLimits } from "#tests/worker/support/setup/memory-limits.ts";
import { call, cookieSite, drainBucket, makePerson, site, toCookieHeader } from "#tests/worker/support/site.ts";
import { findDocumentCaller } from "#worker/auth/sessions/document-session.ts";
import { revokeSessions } from "#worker/auth/sessions/sessions.ts";
import { openDb } from "#worker/db/client.ts";
import worker from "#worker/index.ts";
import { refreshCookie } from "#worker/lib/http/cookies.ts";
import { memoryPolicies } from "#worker/lib/limits/memory-limits.ts";
import { rateLimitPolicies, takeToken } from "#worker/lib/limits/rate-limit.ts";
import { takeUserToken } from "#worker/lib/limits/request-limit.ts";

/** Durations for which requests and refusals were delayed; the tests do not wait. No bucket refills meanwhile. */
let delays: readonly number[];
beforeEach(() => {
  applyMemoryLimits();
  advanceClock(0);
  delays = elapseTimers(10, 10_000);
});

const get = (path: string, headers: Record<string, string>) => site.fetch(site.origin + path, { headers });
const asPerson = ({ token }: Person) => ({ authorization: `Bearer ${token}` });
const fromAddress = (address: string) => ({ "cf-connecting-ip": address });

const waveSize = 40;
const sendWave = (send: (n: number) => Promise<Response>): Promise<Response[]> =>
  Promise.all(Array.from({ length: waveSize }, (_, n) => send(n)));

/** Sends waves of simultaneous requests until one is refused. Returns the number of answered requests and a refusal. */
const floodUntilRefused = async (path: string, headers: Record<string, string>, atMost: number) => {
  let answered = 0;
  while (answered < atMost) {
    const responses = await sendWave(() => get(path, headers));
    const refused = responses.filter(({ status }) => status === 429);
    answered += responses.length - refused.length;
    const [response] = refused;
    await Promise.all(responses.map((one) => (one === response ? undefined : one.arrayBuffer())));
    if (response) return { answered, response };
  }
  throw new Error("never refused");
};

/** Answers of a Worker whose directory fails at every statement. */
const getWithoutDirectory = async (path: string, headers: Record<string, string>): Promise<number> => {
  const broken = new Proxy(env.DB, {
    get: () => {
      throw new Error("the directory was asked");
    },
  });
  const context = createExecutionContext();
  const request = new Request(site.origin + path, { headers }) as Parameters<typeof worker.fetch>[0];
  const response = await worker.fetch(request, { ...env, DB: broken }, context);
  await response.arrayBuffer();
  await waitOnExecutionContext(context);
  return response.status;
};

const { api_by_user, bytes_by_user, anonymous_by_address, anonymous_by_device } = memoryPolicies;
type Policy = { burst: number; everyMs: number; waitMaxMs: number };
/** Number of requests that are answered while no bucket refills: those beyond the burst wait. */
const countAnswered = ({ burst, everyMs, waitMaxMs }: Policy): number => burst + waitMaxMs / everyMs;

test.each(["/api/mutes", "/api/tala?before=7", "/api/users/00000000-0000-7000-8000-000000000000"])(
  "unlimited requests for %s are refused with the time to wait, without a directory query, and nobody else is affected",
  async (path) => {
    const [ana, ben] = [await seedPerson(), await seedPerson()];
    const { answered, response } = await floodUntilRefused(path, asPerson(ana), 3 * api_by_user.burst);
    expect(answered).toBe(countAnswered(api_by_user));
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({ error_code: "rate_limited" });
    const wave = Array.from({ length: waveSize }, () => getWithoutDirectory(path, asPerson(ana)));
    expect(new Set(await Promise.all(wave))).toEqual(new Set([429]));
    expect((await get(path, asPerson(ben))).status).not.toBe(429);
  },
);

test("pages opened with the cookie of an ended session read the directory as often as a person may ask", async () => {
  const ana = await makePerson();
  await revokeSessions(openDb(env), ana.id, "all");
  let statements = 0;
  const DB = {
    prepare: (query: string) => {
      statements++;
      return env.DB.prepare(query);
    },
  };
  const open = () => {
    const request = new Request(`${site.origin}/app`, { headers: { cookie: `${refreshCookie}=${ana.refreshToken}` } });
    return findDocumentCaller(request, { ...env, DB } as unknown as Env);
  };
  const callers = await Promise.all(Array.from({ length: 2 * api_by_user.burst }, open));
  expect(new Set(callers)).toEqual(new Set([undefined]));
  expect(statements).toBe(api_by_user.burst);
});

test("a refusal is delayed, so that immediate retries get few of them", async () => {
  const ana = await seedPerson();
  vi.restoreAllMocks();
  advanceClock(0);
  while (takeUserToken(ana.id).ok);
  const timers = suspendTimers(1_000, 2_000);
  let answered = 0;
  const wave = sendWave(async () => {
    const response = await get("/api/mutes", asPerson(ana));
    answered++;
    await response.arrayBuffer();
    return response;
  });
  await waitUntil(() => timers.count() >= waveSize);
  expect(answered).toBe(0);
  await timers.go();
  expect(new Set((await wave).map(({ status }) => status))).toEqual(new Set([429]));
});

test("too many changes are refused like too many reads", async () => {
  const ana = await seedPerson();
  const statuses = await Promise.all(
    Array.from({ length: 2 * api_by_user.burst }, async (_, i) => {
      const path = `/api/mutes/${crypto.randomUUID()}`;
      return (await call(i % 2 ? "PUT" : "DELETE", path, { token: ana.token })).status;
    }),
  );
  expect(statuses).toContain(429);
});

test("a long list scrolled fast gets all its pictures: beyond the burst they wait instead of being refused", async () => {
  const ana = await seedPerson();
  const path = `/api/avatars/${ana.id}_1763800000000_AAAAAAAAAAAAAAAAAAAAAA.webp?size=50`;
  const { burst, everyMs } = bytes_by_user;
  const waiting = 100;
  const statuses = await Promise.all(
    Array.from({ length: burst + waiting }, async () => (await get(path, asPerson(ana))).status),
  );
  expect(new Set(statuses)).toEqual(new Set([404]));
  expect(delays).toEqual(Array.from({ length: waiting }, (_, n) => (n + 1) * everyMs));
  expect((await get("/api/mutes", asPerson(ana))).status).toBe(200);
});

test.each([
  ["pictures", "bytes_by_user", `/api/avatars/${crypto.randomUUID()}_1763800000000_AAAAAAAAAAAAAAAAAAAAAA.webp`],
  ["parts of files", "parts_by_user", `/api/files/${crypto.randomUUID()}/parts/0`],
] as const)("more %s at once than can wait are refused", async (_, name, path) => {
  const ana = await seedPerson();
  const answered = countAnswered(memoryPolicies[name]);
  const many = Array.from({ length: answered + 50 }, async () => {
    const response = await get(path, asPerson(ana));
    await response.arrayBuffer();
    return response.status;
  });
  const statuses = await Promise.all(many);
  expect(statuses.filter((status) => status === 429)).toHaveLength(50);
  expect(statuses.filter((status) => status !== 429)).toHaveLength(answered);
});

test.each([
  ["challenges", "challenges_by_address", "challenge", { action: "sign_up", subject: "+243810000001" }],
  ["passkey ceremonies", "ceremonies_by_address", "passkeys/sign-in/options", {}],
] as const)(
  "too many %s from one address are refused, and no other request from it is",
  async (_, name, path, content) => {
    const from = fromAddress("198.51.100.9");
    const answered = countAnswered(memoryPolicies[name]);
    const ask = async () => {
      const body = JSON.stringify(content);
      const headers = { ...from, "content-type": "application/json", origin: site.origin };
      const response = await site.fetch(`${site.origin}/api/auth/${path}`, { method: "POST", headers, body });
      await response.arrayBuffer();
      return response.status;
    };
    const statuses = await Promise.all(Array.from({ length: answered + 50 }, ask));
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(statuses.filter((status) => status === 200)).toHaveLength(answered);
    expect((await get("/api/health", from)).status).toBe(200);
  },
);

test("a large body costs more of a person's requests than a small one", async () => {
  const send = async ({ token }: Person, length: number) =>
    (await call("POST", "/api/requests", { token, body: { to_user_id: "x".repeat(length) } })).status;
  const sendTwelve = (person: Person, length: number) =>
    Promise.all(Array.from({ length: 12 }, () => send(person, length)));
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  expect(await sendTwelve(ana, 250_000)).toContain(429);
  expect(await sendTwelve(ben, 250)).not.toContain(429);
});

test.each(["/api/mutes", `/api/avatars/${crypto.randomUUID()}_1763800000000_AAAAAAAAAAAAAAAAAAAAAA.webp`])(
  "long headers cost more of a person's requests for %s than short ones",
  async (path) => {
    const sendMany = (person: Person, length: number) =>
      Promise.all(
        Array.from({ length: 50 }, async () => {
          const response = await get(path, { ...asPerson(person), range: `bytes=${" ".repeat(length)}x` });
          await response.arrayBuffer();
          return response.status;
        }),
      );
    const [ana, ben] = [await seedPerson(), await seedPerson()];
    expect(await sendMany(ana, 100_000)).toContain(429);
    expect(await sendMany(ben, 10)).not.toContain(429);
  },
);

test("visitors of one address share a bucket, which requests with invalid tokens do not bypass", async () => {
  const ana = await seedPerson();
  const from = fromAddress("198.51.100.7");
  const forged = { ...from, authorization: "Bearer e30.e30.e30" };
  for (let i = 0; i < anonymous_by_address.burst; i += 100) {
    await Promise.all(Array.from({ length: 100 }, async () => (await get("/api/health", forged)).arrayBuffer()));
  }
  await floodUntilRefused("/api/health", from, anonymous_by_address.burst);
  expect((await get("/api/health", fromAddress("198.51.100.8"))).status).toBe(200);
  expect((await get("/api/mutes", { ...from, ...asPerson(ana) })).status).toBe(200);
});

test("a known device has a separate share behind an exhausted address, which new cookies do not multiply", async () => {
  const ana = await makePerson();
  const address = fromAddress("198.51.100.9");
  const knownDevice = async () => {
    const answer = await call("POST", "/api/auth/token?grant_type=password", {
      headers: { ...cookieSite, "cf-connecting-ip": "203.0.113.201" },
      body: { phone: ana.phone, password: testPassword },
    });
    return {
      cookie:
        toCookieHeader(answer)
          .split("; ")
          .find((one) => one.startsWith("__Host-lisolo-device=")) ?? "",
    };
  };
  const [first, second] = [await knownDevice(), await knownDevice()];
  expect(first.cookie).not.toBe(second.cookie);
  for (let i = 0; i < anonymous_by_address.burst; i += 100) {
    await Promise.all(Array.from({ length: 100 }, async () => (await get("/api/health", address)).arrayBuffer()));
  }
  const ask = async (cookie: string) => (await get("/api/health", { ...address, cookie })).status;
  expect(await ask("")).toBe(429);
  for (const forged of [first.cookie.replace(/=./, "=_"), first.cookie.replace(/\..*/, "."), "__Host-lisolo-device=."])
    expect(await ask(forged)).toBe(429);
  const { answered } = await floodUntilRefused("/api/health", { ...address, ...first }, 2 * anonymous_by_device.burst);
  expect(answered).toBe(anonymous_by_device.burst);
  expect(await ask(second.cookie)).toBe(429);
});

test("a directory bucket found empty is not requested again before it can have a token", async () => {
  const ana = await seedPerson();
  await drainBucket("settings_by_user", ana.id);
  const db = openDb(env);
  const broken = new Proxy(db, {
    get: () => {
      throw new Error("the directory was asked");
    },
  });
  const now = Date.now();
  const refused = await takeToken(db, ana.id, "settings_by_user", { now });
  if (refused.ok) throw new Error("the bucket should be empty");
  expect(await takeToken(broken, ana.id, "settings_by_user", { now })).toEqual(refused);
  await expect(takeToken(broken, ana.id, "settings_by_user", { now: now + refused.retryAfterMs })).rejects.toThrow();
  const setBack = now - 2 * rateLimitPolicies.settings_by_user.burst * rateLimitPolicies.settings_by_user.everyMs;
  await expect(takeToken(broken, ana.id, "settings_by_user", { now: setBack })).rejects.toThrow();
});
