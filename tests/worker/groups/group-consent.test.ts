import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { groupReturnDays } from "#contract/limits.ts";
import {
  makeFriends,
  makeGroup,
  makeSyncedGroup,
  readMemberPage,
  requestAs,
} from "#tests/worker/support/make-group.ts";
import { call, drainBucket } from "#tests/worker/support/site.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/** Limits on groups: nobody is in a group against their will, and nobody creates unlimited groups. */

const settle = (person: { token: string }, groupAdds: "contacts" | "nobody") =>
  call("PATCH", "/api/settings", { token: person.token, body: { groupAdds } });

test("a person whose settings forbid it cannot be added to groups, and stays in their present ones", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  await settle(ben, "nobody");
  expect(await makeGroup(owner, "Encore", [ben, cleo])).toBe("not_addable");
  expect((await readMemberPage(owner, id)).count).toBe(3);
  await requestAs(owner, "DELETE", `/api/groups/${id}/members/${ben.id}`);
  expect(await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [ben.id] })).toBe("not_addable");
  await settle(ben, "contacts");
  expect(await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [ben.id] })).toMatchObject({
    count: 3,
  });
});

test("a person who left a group cannot be added again for a month; one who was removed can", async () => {
  const { id, owner, others } = await makeSyncedGroup(4);
  const [ben, cleo, dan] = others;
  if (!ben || !cleo || !dan) throw new Error("too few");
  const add = (...people: { id: string }[]) =>
    requestAs(owner, "POST", `/api/groups/${id}/members`, { members: people.map((one) => one.id) });
  await requestAs(ben, "DELETE", `/api/groups/${id}/members/${ben.id}`);
  await requestAs(owner, "DELETE", `/api/groups/${id}/members/${cleo.id}`);
  expect(await add(ben)).toBe("member_has_left");
  expect(await add(cleo, ben)).toBe("member_has_left");
  expect(await readMemberPage(owner, id)).toMatchObject({ count: 2 });
  expect(await add(cleo)).toMatchObject({ count: 3 });
  // Changes of the group meanwhile have no effect for them.
  await requestAs(owner, "PATCH", `/api/groups/${id}`, { name: "Sans Ben" });
  expect(await add(ben)).toBe("member_has_left");
  const days = 24 * 3_600_000;
  const now = Date.now();
  const clock = vi.spyOn(Date, "now");
  const addAt = (at: number) => {
    clock.mockReturnValue(at);
    const people = [{ user: ben.id, isHidden: false }];
    return getConversationStub(env, id).runGroupCommand(owner.id, { type: "add", people });
  };
  expect(await addAt(now + groupReturnDays * days - 60_000)).toEqual({ error: "member_has_left" });
  expect(await addAt(now + groupReturnDays * days)).toMatchObject({ count: 4 });
  clock.mockRestore();
});

test("ten groups can be created at once, and then more at the daily rate", async () => {
  const [ana, ben] = await makeFriends(2);
  if (!ben) throw new Error("too few");
  for (let n = 0; n < 10; n++) expect(await makeGroup(ana, `Groupe ${n}`, [ben])).toMatchObject({ count: 2 });
  const body = { id: createUuid(), name: "De trop", members: [ben.id] };
  const refused = await call("POST", "/api/groups", { token: ana.token, body });
  expect(refused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_600);
  await drainBucket("group_by_user", ben.id);
  expect(await makeGroup(ben, "Non plus", [ana])).toBe("rate_limited");
});
