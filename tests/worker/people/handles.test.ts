import { env } from "cloudflare:workers";
import { beforeEach, expect, test } from "vitest";
import { formerHandleDays, handleChangesMax } from "#contract/limits/people.ts";
import { toSkeleton } from "#contract/names/skeleton.ts";
import type { FoundPerson, Profile } from "#contract/people.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { call, makePerson, refillBuckets, site } from "#tests/worker/support/site.ts";
import { startAccountDeletion } from "#worker/account/queries.ts";
import { openDb } from "#worker/db/client.ts";
import { purgeFormerHandles } from "#worker/people/handle-queries.ts";

type Outcome = { handle?: string | null; error_code?: string };
const dayMs = 24 * 3_600_000;

beforeEach(() => refillBuckets("handle_search_by_user"));

const choose = async (person: Person, handle: string): Promise<string | null | undefined> => {
  const { body } = await call("PUT", "/api/handle", { token: person.token, body: { handle } });
  const { handle: chosen, error_code } = body as Outcome;
  return error_code ?? chosen;
};
const remove = (person: Person) => call("DELETE", "/api/handle", { token: person.token });
const ownHandle = async (person: Person) =>
  ((await call("GET", "/api/handle", { token: person.token })).body as Outcome).handle;
const find = async (by: Person, handle: string): Promise<FoundPerson[]> => {
  const answer = await call("POST", "/api/handles/search", { token: by.token, body: { handle } });
  expect(answer.status).toBe(200);
  return answer.body as FoundPerson[];
};
const idsFound = async (by: Person, handle: string) => (await find(by, handle)).map(({ id }) => id);
/** Lets the time pass that a former handle is reserved. */
const endReservations = () =>
  env.DB.prepare(`UPDATE handles SET released_at = released_at - ${formerHandleDays * dayMs}`).run();

test("a person chooses a handle, by which others find them exactly and without their number", async () => {
  const [ana, sam] = [await makePerson(), await makePerson()];
  expect(await ownHandle(ana)).toBeNull();
  expect(await choose(ana, " @Ana.Mbala ")).toBe("ana.mbala");
  expect(await ownHandle(ana)).toBe("ana.mbala");
  const [found] = await find(sam, "@ANA.MBALA");
  expect(found).toEqual({
    id: ana.id,
    username: ana.username,
    phone: "",
    avatar_url: null,
    handle: "ana.mbala",
    state: "none",
  });
  for (const other of ["ana.mbal", "anambala", "ana_mbala", "ana.mba1a"]) expect(await find(sam, other)).toEqual([]);
  expect(await find(ana, "ana.mbala")).toEqual([]);
});

test("the setting for the search by number does not apply, and a request goes to the person found", async () => {
  const [ana, sam] = [await makePerson(), await makePerson()];
  await call("PATCH", "/api/settings", { token: ana.token, body: { findable: "nobody" } });
  await choose(ana, "ana.hidden");
  expect(await idsFound(sam, "ana.hidden")).toEqual([ana.id]);
  const request = await call("POST", "/api/requests", { token: sam.token, body: { to_user_id: ana.id } });
  expect(request).toMatchObject({ status: 200, body: { profile: { phone: "", handle: "ana.hidden" }, state: "sent" } });
  expect(await find(sam, "ana.hidden")).toMatchObject([{ phone: "", state: "sent" }]);
});

test("handles that look alike belong to one person, of two who choose at once too", async () => {
  const [ana, sam, cal] = [await makePerson(), await makePerson(), await makePerson()];
  expect(await choose(ana, "paulo.karnal")).toBe("paulo.karnal");
  for (const other of ["paulo.karnal", "paul0.karnal", "pau1o_kamal", "paulokamal"])
    expect(await choose(sam, other)).toBe("handle_taken");
  expect(await ownHandle(sam)).toBeNull();
  expect(await choose(ana, "paulo.kamal")).toBe("paulo.kamal");
  const outcomes = await Promise.all([choose(sam, "race.winner"), choose(cal, "race_w1nner")]);
  expect(outcomes.filter((outcome) => outcome === "handle_taken")).toHaveLength(1);
  const rows = await env.DB.prepare("SELECT user_id FROM handles WHERE skeleton = ?")
    .bind(toSkeleton("race.winner"))
    .all();
  expect(rows.results).toHaveLength(1);
});

test("handles whose letters are drawn alike belong to one person, and honest spellings coexist", async () => {
  const [ana, sam] = [await makePerson(), await makePerson()];
  expect(await choose(ana, "clemence")).toBe("clemence");
  expect(await choose(sam, "demence")).toBe("handle_taken");
  expect(await choose(ana, "nnadia")).toBe("nnadia");
  expect(await choose(sam, "madia")).toBe("handle_taken");
  expect(await choose(sam, "nadia")).toBe("nadia");
  expect(await choose(ana, "mathieu.b")).toBe("mathieu.b");
  expect(await choose(sam, "matthieu.b")).toBe("matthieu.b");
});

test("names of the service and of the operator's list are reserved", async () => {
  const ana = await makePerson();
  for (const handle of [
    "lisolo.info",
    "support",
    "rawbank",
    "airtel_money_rdc",
    "jean.rawbank",
    "mylisolo",
    "ravvbank",
  ])
    expect(await choose(ana, handle)).toBe("reserved_handle");
  expect(await choose(ana, "ana..k")).toBe("invalid_handle");
  const answer = await call("POST", "/api/handles/search", { token: ana.token, body: { handle: "x" } });
  expect(answer).toMatchObject({ status: 400, body: { error_code: "invalid_handle" } });
});

test("a former handle finds nobody and is reserved for its former owner for some weeks", async () => {
  const [ana, sam] = [await makePerson(), await makePerson()];
  await choose(ana, "ana.first");
  await choose(ana, "ana.second");
  expect(await find(sam, "ana.first")).toEqual([]);
  expect(await choose(sam, "ana.first")).toBe("handle_taken");
  expect(await choose(ana, "ana.first")).toBe("ana.first");
  await remove(ana);
  expect(await ownHandle(ana)).toBeNull();
  expect(await find(sam, "ana.first")).toEqual([]);
  expect(await choose(sam, "ana.first")).toBe("handle_taken");
  await endReservations();
  expect(await choose(sam, "ana.first")).toBe("ana.first");
  expect(await idsFound(ana, "ana.first")).toEqual([sam.id]);
});

test("a refused choice keeps the present handle and does not count as a change; the present one again is free", async () => {
  const [ana, sam] = [await makePerson(), await makePerson()];
  await choose(sam, "sam.present");
  for (let n = 0; n < handleChangesMax + 1; n++) expect(await choose(ana, "sam.present")).toBe("handle_taken");
  for (let n = 0; n < handleChangesMax; n++) expect(await choose(ana, `ana.number${n + 2}`)).toBe(`ana.number${n + 2}`);
  expect(await choose(ana, `ana.number${handleChangesMax + 1}`)).toBe(`ana.number${handleChangesMax + 1}`);
  expect(await choose(ana, "ana.another")).toBe("handle_changes_used_up");
  expect(await ownHandle(ana)).toBe(`ana.number${handleChangesMax + 1}`);
  expect((await remove(ana)).status).toBe(200);
});

test("a person who blocks the searcher is not found", async () => {
  const [ana, dina] = [await makePerson(), await makePerson()];
  await choose(ana, "ana.blocks");
  await call("PUT", `/api/blocks/${dina.id}`, { token: ana.token });
  expect(await find(dina, "ana.blocks")).toEqual([]);
  await call("DELETE", `/api/blocks/${dina.id}`, { token: ana.token });
  expect(await idsFound(dina, "ana.blocks")).toEqual([ana.id]);
});

test("the profile shows the handle to those who may see it, as it is now", async () => {
  const [ana, cal, sam] = [await makePerson(), await makePerson(), await makePerson()];
  await connectPeople(site, ana, cal);
  await choose(ana, "ana.profile");
  const read = (by: Person) => call("GET", `/api/users/${ana.id}`, { token: by.token });
  expect(((await read(cal)).body as Profile).handle).toBe("ana.profile");
  expect((await read(sam)).status).toBe(404);
  await remove(ana);
  expect((await read(cal)).body).not.toHaveProperty("handle");
});

test("after the deletion of the account the handle names nobody, and is free when its reservation has ended", async () => {
  const [ana, sam] = [await makePerson(), await makePerson()];
  await choose(ana, "ana.leaves");
  await startAccountDeletion(env, openDb(env), ana.id);
  expect(await find(sam, "ana.leaves")).toEqual([]);
  expect(await choose(sam, "ana.leaves")).toBe("handle_taken");
  const row = await env.DB.prepare("SELECT user_id FROM handles WHERE skeleton = 'anaieaves'").first();
  expect(row).toEqual({ user_id: null });
  const inAMonth = Date.now() + formerHandleDays * dayMs + 1;
  await purgeFormerHandles(openDb(env), inAMonth, 100);
  expect(await env.DB.prepare("SELECT 1 FROM handles WHERE skeleton = 'anaieaves'").first()).toBeNull();
  expect(await choose(sam, "ana.leaves")).toBe("ana.leaves");
});
