import type { Uuid } from "#contract/ids.ts";
import type { LocalStore, MemberRow } from "#sync/store/database.ts";

/** Present members of all groups, as far as this device knows them, each person once. */
export const listGroupPeople = async (
  { members }: LocalStore,
  me: Uuid,
): Promise<(Pick<MemberRow, "username" | "phone"> & { id: Uuid })[]> => {
  const present = (await members.toArray()).filter(({ left, user }) => left === 0 && user !== "" && user !== me);
  const people = present.sort((a, b) => a.at - b.at).map(({ user: id, username, phone }) => ({ id, username, phone }));
  return [...new Map(people.map((person) => [person.id, person])).values()];
};
