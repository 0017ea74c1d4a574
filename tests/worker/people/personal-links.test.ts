import { env, exports } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { FoundPerson } from "#contract/people.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { call, drainBucket, makePerson, site } from "#tests/worker/support/site.ts";
import { startAccountDeletion } from "#worker/account/queries.ts";
import { openDb } from "#worker/db/client.ts";

type Link = { url: string; qr_code: string };

const sendLink = async (method: string, person: Person): Promise<Link | null> => {
  const answer = await call(method, "/api/link", { token: person.token });
  expect(answer.status).toBe(200);
  return (answer.body as { link: Link | null }).link;
};
const createToken = async (person: Person): Promise<string> =>
  (await sendLink("POST", person))?.url.split("/u/")[1] ?? "";
const open = (by: Person, token: string) => call("POST", "/api/links/search", { token: by.token, body: { token } });
const gone = { status: 404, body: { error_code: "link_not_found" } };

test("a personal link leads to its owner, without their number, until it is renewed or turned off", async () => {
  const [ana, sam] = [await makePerson(), await makePerson()];
  expect(await sendLink("GET", ana)).toBeNull();
  const first = await createToken(ana);
  expect(first).toMatch(/^[\w-]{22}$/);
  const own = await sendLink("GET", ana);
  expect(own?.url).toBe(`${site.origin}/u/${first}`);
  expect(own?.qr_code).toMatch(/^<svg /);
  const found: FoundPerson = { id: ana.id, username: ana.username, phone: "", avatar_url: null, state: "none" };
  expect(await open(sam, first)).toMatchObject({ status: 200, body: found });
  expect((await open(ana, first)).body).toMatchObject({ id: ana.id });

  const second = await createToken(ana);
  expect(second).not.toBe(first);
  expect(await open(sam, first)).toMatchObject(gone);
  expect((await open(sam, second)).status).toBe(200);
  expect(await sendLink("DELETE", ana)).toBeNull();
  expect(await open(sam, second)).toMatchObject(gone);
  expect(await sendLink("GET", ana)).toBeNull();
});

test("an unknown or malformed token leads to nobody, and neither does a link whose owner blocks the reader", async () => {
  const [ana, dina] = [await makePerson(), await makePerson()];
  const token = await createToken(ana);
  for (const other of ["", "x", "A".repeat(22), `${token}x`, "%".repeat(500)])
    expect(await open(dina, other)).toMatchObject(gone);
  await call("PUT", `/api/blocks/${dina.id}`, { token: ana.token });
  expect(await open(dina, token)).toMatchObject(gone);
});

test("contacts see the number as before, and the link ends with the account", async () => {
  const [ana, cal] = [await makePerson(), await makePerson()];
  await connectPeople(site, ana, cal);
  const token = await createToken(ana);
  expect((await open(cal, token)).body).toMatchObject({ phone: ana.phone, state: "contact" });
  await startAccountDeletion(env, openDb(env), ana.id);
  expect(await open(cal, token)).toMatchObject(gone);
});

test("opening links and renewing one are limited", async () => {
  const ana = await makePerson();
  const token = await createToken(ana);
  await drainBucket("link_search_by_user", ana.id);
  expect((await open(ana, token)).status).toBe(429);
  await drainBucket("link_change_by_user", ana.id);
  expect((await call("POST", "/api/link", { token: ana.token })).status).toBe(429);
});

test.each(["u", "v"])(
  "the address of a link /%s leads into the app, discloses nothing, and is kept for visitors while they sign in",
  async (kind) => {
    const token = "B".repeat(22);
    // Not by `site`, which accepts the cookies of sessions only.
    const follow = (path: string) => exports.default.fetch(`${site.origin}${path}`, { redirect: "manual" });
    const response = await follow(`/${kind}/${token}`);
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe(`/app/${kind}/${token}`);
    const cookie = `lisolo-link=${kind}/${token}; Path=/; Max-Age=3600; Secure; SameSite=Lax`;
    expect(response.headers.get("set-cookie")).toBe(cookie);
    expect(await response.text()).toBe("");
    // The app's page sends visitors back: a page that is the same for every link, also for who opens that page first.
    expect((await follow(`/${kind}/${token}?visitor`)).headers.get("set-cookie")).toBe(cookie);
    const pages = [token, "C".repeat(22)].map(async (each) => (await follow(`/${kind}/${each}?visitor`)).text());
    const [page, other] = await Promise.all(pages);
    expect(page).toContain('<a href="/register">');
    expect(page).not.toMatch(/<script|<img/);
    expect(page).toBe(other);
    for (const path of ["", "short", "short?visitor", `${token}/more`, "%2F%2Fevil.test"]) {
      const other = await follow(`/${kind}/${path}`);
      expect([other.status, other.headers.get("location"), other.headers.get("set-cookie")]).toEqual([303, "/", null]);
    }
  },
);
