import { expect, test } from "vitest";
import type { Group } from "#contract/groups.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { maskToLastDigits } from "#contract/phone/phone-text.ts";
import type { Answer, Person } from "#tests/support/people/people.ts";
import { Device, readLog, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import {
  makeFriends,
  makeGroup,
  makeSyncedGroup,
  readMemberPage,
  requestAs,
  type SeededPerson,
} from "#tests/worker/support/make-group.ts";
import { call } from "#tests/worker/support/site.ts";

const block = async (by: Person, other: Person, method: "PUT" | "DELETE" = "PUT"): Promise<void> => {
  const { status } = await call(method, `/api/blocks/${other.id}`, { token: by.token });
  if (status !== 200) throw new Error(`not blocked: ${status}`);
};

/** Answer without the parts that differ between groups of the same people. */
const blurred = (value: unknown, names: ReadonlyMap<string, string>): string => {
  let text = JSON.stringify(value);
  for (const [one, name] of names) text = text.replaceAll(one, name);
  return text
    .replace(/\b1[789]\d{11}\b/g, "time")
    .replace(/"epoch":"[0-9a-f]{8}"/g, '"epoch":"epoch"')
    .replace(/"cid":"[0-9a-f-]{36}"/g, '"cid":"cid"');
};

/** All owner commands about a hidden member, with their answers. */
const dealWith = async (isBlocked: boolean): Promise<string[]> => {
  const [ana, ben, cleo, dan] = (await makeFriends(4)) as [SeededPerson, SeededPerson, SeededPerson, SeededPerson];
  if (isBlocked) await block(ben, ana);
  const [id, other] = [createUuid(), createUuid()];
  const names = new Map<string, string>([
    [id, "group"],
    [other, "other"],
  ]);
  for (const [name, { id: user, phone, username }] of Object.entries({ ana, ben, cleo, dan })) {
    const ending = maskToLastDigits(phone);
    for (const [what, of] of Object.entries({ user, phone, ending, username })) names.set(of, `${name}'s ${what}`);
  }
  const heard: string[] = [];
  const hear = (what: string, value: unknown) => heard.push(blurred([what, value], names));
  const does = async (person: Person, method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await call(method, path, { token: person.token, ...(body === undefined ? {} : { body }) });
    hear(`${method} ${path}`, [answer.status, answer.body, answer.headers.get("content-length")]);
    return answer;
  };
  const group = `/api/groups/${id}`;
  await does(ana, "POST", "/api/groups", { id, name: "Famille", members: [ben.id, cleo.id] });
  await does(ana, "POST", "/api/groups", { id, name: "Famille", members: [ben.id, cleo.id] });
  await does(ana, "GET", group);
  for (const one of [ana, cleo]) {
    await does(one, "GET", `${group}/members`);
    await does(one, "GET", `${group}/members?numbers=0,1,2,3`);
  }
  await sendTexts(ana, id, "Mbote");
  await waitUntil(async () => (await readRow(cleo, id)).head === 2);
  await request(cleo, { type: "mark", conversation: id, delivered: 2, read: 2 });
  await does(ana, "GET", `/api/conversations/${id}/messages/2/receipts`);
  await does(ana, "POST", `${group}/members`, { members: [dan.id] });
  await does(ana, "POST", `${group}/members`, { members: [ben.id, dan.id] });
  await does(ana, "DELETE", `${group}/members/${ben.id}`);
  await does(ana, "DELETE", `${group}/members/${ben.id}`);
  await does(ana, "PUT", `${group}/owner`, { user_id: ben.id });
  await does(ana, "DELETE", `${group}/members/${ana.id}?heir=${ben.id}`);
  await does(ana, "GET", `${group}/members?since=1`);
  await does(ana, "POST", `${group}/members`, { members: [ben.id] });
  await sendTexts(cleo, id, "Rebonjour");
  await does(cleo, "GET", `${group}/members?since=2`);
  await does(ana, "PUT", `${group}/owner`, { user_id: ben.id });
  await does(ana, "PUT", `${group}/owner`, { user_id: ben.id });
  await does(ana, "PATCH", group, { name: "Nous" });
  await does(ana, "GET", `${group}/members`);
  hear("the log", await readLog(ana, id));
  for (const one of [ana, cleo]) {
    await waitUntil(async () => (await readRow(one, id)).head === 7);
    const { handle: _, ...row } = await readRow(one, id);
    hear("a row", row);
  }
  await does(ana, "DELETE", `${group}/members/${ana.id}`);
  await does(ana, "POST", "/api/groups", { id: other, name: "À deux", members: [ben.id] });
  await does(ana, "DELETE", `/api/groups/${other}/members/${ana.id}?heir=${ben.id}`);
  await does(ana, "GET", `/api/groups/${other}`);
  return heard;
};

test("commands about a member who blocks the sender are answered exactly as for one who does not", async () => {
  const [with_, without] = [await dealWith(true), await dealWith(false)];
  expect(with_).toEqual(without);
  expect(without).toHaveLength(28);
});

test("a person who is added by somebody they block is not notified of the group, until somebody else adds them", async () => {
  const [ana, ben, cleo] = (await makeFriends(3)) as [SeededPerson, SeededPerson, SeededPerson];
  await block(ben, ana);
  await waitUntil(async () => {
    const { people } = await request(ben, { type: "changes", since: 0 });
    return people.some(({ profile, blocked }) => profile.id === ana.id && blocked);
  });
  const phone = await Device.open(ben);
  const heard = phone.frames.length;
  const rowsOfBen = async () => (await request(ben, { type: "changes", since: 0 })).rows;
  const id = createUuid();
  expect(await makeGroup(ana, "Famille", [ben, cleo], id)).toMatchObject({ count: 3 });
  await waitUntil(async () => (await readRow(cleo, id)).open);
  await sendTexts(cleo, id, "Ben ne lit pas");
  await waitUntil(async () => (await readRow(ana, id)).unread === 1);
  expect(phone.frames).toHaveLength(heard);
  expect(
    (await request(ben, { type: "changes", since: 0 })).rows.map(({ conversation }) => conversation),
  ).not.toContain(id);
  expect(await requestAs(ben, "GET", `/api/groups/${id}`)).toBe("group_not_found");
  expect(await requestAs(ben, "GET", `/api/groups/${id}/members`)).toBe("group_not_found");
  expect(await requestAs(ben, "DELETE", `/api/groups/${id}/members/${ben.id}`)).toBe("group_not_found");
  expect(await requestAs(ben, "GET", `/api/conversations/${id}/messages`)).toBe("conversation_not_found");
  expect(await sendTexts(ben, id, "Quand même")).toEqual({ error: "conversation_not_found" });

  await block(ben, ana, "DELETE");
  expect(await requestAs(ben, "GET", `/api/groups/${id}`)).toBe("group_not_found");
  const again = await requestAs(ana, "POST", `/api/groups/${id}/members`, { members: [ben.id] });
  expect(again).toMatchObject({ count: 3, roster: 1 });
  await sendTexts(cleo, id, "Te voilà");
  await waitUntil(async () =>
    (await rowsOfBen()).some(({ conversation, unread }) => conversation === id && unread === 2),
  );
  // All messages since the others saw him as a member, and no system message says that he joined only now.
  expect((await readLog(ben, id)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
});

test("nobody can add a person they block, or anybody in a list that names one", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [, ben] = await makeFriends(2);
  const [ana, dan, eve] = (await makeFriends(3)) as [SeededPerson, SeededPerson, SeededPerson];
  if (!ben) throw new Error("too few");
  await block(ana, eve);
  const refused = createUuid();
  expect(await makeGroup(ana, "Famille", [dan, eve], refused)).toBe("contact_blocked");
  expect(await requestAs(ana, "GET", `/api/groups/${refused}`)).toBe("group_not_found");
  expect(await makeGroup(ana, "Famille", [dan], refused)).toMatchObject({ count: 2 });
  expect(await requestAs(ana, "POST", `/api/groups/${refused}/members`, { members: [eve.id] })).toBe("contact_blocked");
  expect((await readMemberPage(ana, refused)).count).toBe(2);
  // A block changes nothing in a group of both.
  const [cleo] = others;
  if (!cleo) throw new Error("too few");
  await block(cleo, owner);
  await sendTexts(owner, id, "À tous");
  await waitUntil(async () => (await readRow(cleo, id)).unread === 1);
  expect((await readLog(cleo, id)).at(-1)).toMatchObject({ body: { text: "À tous" } });
  expect(await requestAs<Group>(cleo, "GET", `/api/groups/${id}`)).toMatchObject({ count: 3 });
  expect(
    await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [ben.id] satisfies Uuid[] }),
  ).toMatchObject({ count: 3, invited: [ben.id] });
});
