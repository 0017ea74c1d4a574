import type { ErrorCode } from "#contract/errors.ts";
import type { GroupWithInvited, MemberPage, NewGroup } from "#contract/groups.ts";
import { createUuid } from "#contract/ids.ts";
import type { Person } from "#tests/support/people/people.ts";
import { readRow, waitUntil } from "./device.ts";
import { befriend, connect, seedPerson } from "./seeded-people.ts";
import { call } from "./site.ts";

/** Groups created through the API, for tests of their behaviour. */

export type SeededPerson = Awaited<ReturnType<typeof seedPerson>>;

/** Answer of a request, or the code of its refusal. */
export const requestAs = async <T>(
  person: Person,
  method: string,
  path: string,
  body?: unknown,
): Promise<T | ErrorCode | null> => {
  const answer = await call(method, path, { token: person.token, ...(body === undefined ? {} : { body }) });
  if (answer.status === 204) return null;
  return answer.status < 300 ? (answer.body as T) : (answer.body as { error_code: ErrorCode }).error_code;
};

export const makeGroup = (owner: Person, name: string, members: readonly Person[], id = createUuid()) =>
  requestAs<GroupWithInvited>(owner, "POST", "/api/groups", {
    id,
    name,
    members: members.map((one) => one.id),
  } satisfies NewGroup);

const manyPeople = 10;

/** Makes people of whom the first is everybody's contact. Small numbers of people have all been notified of it. */
export const makeFriends = async (count: number): Promise<[SeededPerson, ...SeededPerson[]]> => {
  const owner = await seedPerson();
  const join = count < manyPeople ? befriend : connect;
  const others = await Promise.all(
    Array.from({ length: count - 1 }, async () => {
      const other = await seedPerson();
      await join(owner, other);
      return other;
    }),
  );
  return [owner, ...others];
};

/** Makes a group of this size, the owner first, and waits until all members know it. They may not write before. */
export const makeSyncedGroup = async (count: number, name = "Famille") => {
  const people = await makeFriends(count);
  const [owner, ...others] = people;
  const made = await makeGroup(owner, name, others);
  if (made === null || typeof made === "string") throw new Error(`no group: ${made}`);
  const { invited: _, ...group } = made;
  await Promise.all(others.map((one) => waitUntil(async () => (await readRow(one, group.id)).open)));
  return { id: group.id, owner, others, people, group };
};

export const readMemberPage = async (person: Person, id: string, query = ""): Promise<MemberPage> => {
  const page = await requestAs<MemberPage>(person, "GET", `/api/groups/${id}/members${query}`);
  if (page === null || typeof page === "string") throw new Error(`no members: ${page}`);
  return page;
};
