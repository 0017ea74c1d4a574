import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { openDb } from "#worker/db/client.ts";
import {
  getClientAddress,
  purgeFullBuckets,
  rateLimitPolicies,
  returnToken,
  takeToken,
} from "#worker/lib/limits/rate-limit.ts";

const db = openDb(env);
const name = "search_by_user";
const { burst, everyMs } = rateLimitPolicies[name];
const now = 1_900_000_000_000;

const takeMany = (key: string, count: number, at: number) =>
  Promise.all(Array.from({ length: count }, () => takeToken(db, key, name, { now: at })));
const granted = (results: { ok: boolean }[]) => results.filter(({ ok }) => ok).length;

test("exactly the burst is granted, also to simultaneous requests", async () => {
  expect(granted(await takeMany("at-once", burst + 10, now))).toBe(burst);
});

test("waiting the stated time grants one token, and only one", async () => {
  await takeMany("wait", burst, now);
  const refused = await takeToken(db, "wait", name, { now });
  if (refused.ok) throw new Error("the bucket should be empty");
  expect(refused.retryAfterMs).toBe(everyMs);
  expect(await takeToken(db, "wait", name, { now: now + refused.retryAfterMs - 1 })).toMatchObject({ ok: false });
  expect(await takeToken(db, "wait", name, { now: now + refused.retryAfterMs })).toEqual({ ok: true });
  expect(await takeToken(db, "wait", name, { now: now + refused.retryAfterMs })).toMatchObject({ ok: false });
});

test("a bucket fills up to its burst only", async () => {
  await takeMany("fill", burst, now);
  expect(granted(await takeMany("fill", 2 * burst, now + 1_000 * everyMs))).toBe(burst);
});

test("buckets of different people and limits are separate", async () => {
  await takeMany("ana", burst, now);
  expect(await takeToken(db, "ben", name, { now })).toEqual({ ok: true });
  expect(await takeToken(db, "ana", "block_by_user", { now })).toEqual({ ok: true });
});

test("a returned token can be taken again", async () => {
  await takeMany("back", burst, now);
  await returnToken(db, "back", name);
  expect(granted(await takeMany("back", 3, now))).toBe(1);
});

test("full buckets are removed and others are kept", async () => {
  await env.DB.exec("DELETE FROM rate_limits"); // from earlier tests; one run deletes a bounded number
  await takeMany("empty", burst, now);
  await takeToken(db, "full", name, { now: now - 10 * everyMs });
  await purgeFullBuckets(db, now);
  const keys = (await env.DB.prepare("SELECT key FROM rate_limits").all<{ key: string }>()).results.map(
    ({ key }) => key,
  );
  expect(keys).toContain(`${name}:empty`);
  expect(keys).not.toContain(`${name}:full`);
  expect(await takeToken(db, "empty", name, { now })).toMatchObject({ ok: false });
});

test.each([
  ["203.0.113.9", "203.0.113.9"],
  ["::ffff:203.0.113.9", "203.0.113.9"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:0DB8:0001:0002::9", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::", "2001:db8:1:2::/64"],
  ["2001:db8::6", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
])("requests from %s count as from %s", (address, network) => {
  const headers = { "cf-connecting-ip": address, "x-forwarded-for": "198.51.100.1" };
  expect(getClientAddress(new Request("https://lisolo.test", { headers }))).toBe(network);
});
