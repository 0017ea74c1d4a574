import type { ConversationId, Uuid } from "#contract/ids.ts";
import { type LocalStore, type MemberRow, ownProfileKey, type PersonRow, toMembersVersionKey } from "./database.ts";
import { toUnrelatedPersonRow } from "./row-mapping.ts";
import type { SyncContext } from "./sync-context.ts";
import type { MemberProfile, MemberProfiles } from "./view-models.ts";

/** The people behind member numbers. What is known of a contact is newer than what was once told of a member. */

const staleMs = 24 * 3_600_000; // a name and a picture are asked for again after this long, when they are shown

/** What is known of the people behind members wins only while the server keeps it level. */
const isKeptInSync = (person: PersonRow | undefined): person is PersonRow =>
  person !== undefined && person.state !== "none";

export const toMemberKeys = (group: ConversationId, numbers: readonly number[]): [ConversationId, number][] =>
  numbers.map((number) => [group, number]);

/** How far the whole list of members that is held here goes. */
export const readHeldMembersVersion = async (store: LocalStore, group: ConversationId): Promise<number> =>
  ((await store.meta.get(toMembersVersionKey(group)))?.value as number | undefined) ?? 0;

/** Members with what is known of the people they are. */
const mergeCurrentProfiles = async (store: LocalStore, me: Uuid, rows: readonly MemberRow[]): Promise<MemberRow[]> => {
  const people = await store.people.bulkGet(rows.map(({ user }) => user));
  const own = (await store.meta.get(ownProfileKey))?.value as PersonRow | undefined;
  return rows.map((row, index) => {
    const person = row.user === me ? own : people[index];
    if (!person || (person !== own && !isKeptInSync(person))) return row;
    const { username, phone, avatar } = person;
    return { ...row, username, phone, avatar };
  });
};

/** Those who are members as far as this device knows, and the roster up to which it knows all of them. */
export const readMembers = (
  store: LocalStore,
  me: Uuid,
  group: ConversationId,
): Promise<{ members: MemberRow[]; roster: number }> =>
  store.transaction("r", [store.members, store.people, store.meta], async () => {
    const rows = await store
      .queryMembers(group)
      .filter(({ left }) => left === 0)
      .toArray();
    return { members: await mergeCurrentProfiles(store, me, rows), roster: await readHeldMembersVersion(store, group) };
  });

/** Those of these members that are known here. */
export const readMemberProfiles = async (
  store: LocalStore,
  me: Uuid,
  group: ConversationId,
  numbers: readonly number[],
): Promise<MemberProfiles> => {
  const rows = await store.members.bulkGet(toMemberKeys(group, numbers));
  const authors: Record<number, MemberProfile> = {};
  for (const { number, user, username, avatar, phone } of await mergeCurrentProfiles(
    store,
    me,
    rows.filter((row) => row !== undefined),
  ))
    authors[number] = { user, name: username, avatar, phone, me: user === me };
  return authors;
};

/** Somebody as the group that was asked last showed them; null for a person who never was in one of mine. */
export const readLastKnownProfile = async (store: LocalStore, user: Uuid): Promise<PersonRow | null> => {
  const newest = (await store.members.where("user").equals(user).sortBy("at")).at(-1);
  if (!newest) return null;
  const { username, phone, avatar, createdAt } = newest;
  return toUnrelatedPersonRow({ id: user, username, phone, avatar_url: avatar, created_at: createdAt });
};

/** Which of the others this device does not know, or has not heard of for long. Of a group that is gone, nobody. */
export const listUnknownMembers = async (
  { store, platform }: SyncContext,
  group: ConversationId,
  numbers: readonly number[],
): Promise<number[]> => {
  const row = await store.conversations.get(group);
  if (row?.gone !== false) return [];
  const rows = await store.members.bulkGet(toMemberKeys(group, numbers));
  const isOld = (index: number) => platform.now() - (rows[index]?.at ?? 0) > staleMs;
  return numbers.filter((number, index) => number !== row.group?.number && isOld(index));
};
