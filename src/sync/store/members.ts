import { hasLeftGroup } from "#contract/conversations.ts";
import type { GroupMember, MemberPage } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { type LocalStore, type MemberRow, ownProfileKey, type PersonRow, toMembersVersionKey } from "./database.ts";
import { toUnrelatedPersonRow } from "./row-mapping.ts";
import type { SyncContext } from "./sync-context.ts";
import type { MemberProfile, MemberProfiles } from "./view-models.ts";

/**
 * Profiles of group members by member number. A contact's profile is newer than the copy stored with the membership and
 * overrides it.
 */

const staleMs = dayMs; // shown names and pictures are fetched again after this time

/**
 * Whether the server pushes changes of this person's profile, which it does for everybody with a relation to this
 * person.
 */
const isKeptInSync = (person: PersonRow | undefined): person is PersonRow =>
  person !== undefined && person.state !== "none";

const toMemberKeys = (group: ConversationId, numbers: readonly number[]): [ConversationId, number][] =>
  numbers.map((number) => [group, number]);

/** Members version up to which the full member list is stored; 0 if it never was. */
export const readStoredMembersVersion = async (store: LocalStore, group: ConversationId): Promise<number> =>
  ((await store.meta.get(toMembersVersionKey(group)))?.value as number | undefined) ?? 0;

/** Replaces profile copies in member rows by the newer profiles of contacts and of this person. */
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

/** Stored current members, and the members version (`roster`) up to which the list is complete. */
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
    return {
      members: await mergeCurrentProfiles(store, me, rows),
      roster: await readStoredMembersVersion(store, group),
    };
  });

/** Profiles of the given members, as far as they are stored. */
export const readMemberProfiles = async (
  store: LocalStore,
  me: Uuid,
  group: ConversationId,
  numbers: readonly number[],
): Promise<MemberProfiles> => {
  const rows = await store.members.bulkGet(toMemberKeys(group, numbers));
  const profiles: Record<number, MemberProfile> = {};
  for (const { number, user, username, avatar, phone } of await mergeCurrentProfiles(
    store,
    me,
    rows.filter((row) => row !== undefined),
  ))
    profiles[number] = { user, name: username, avatar, phone, me: user === me };
  return profiles;
};

/** Profile of a person in the most recently fetched membership; null if they never were in a group of this person. */
export const readLastKnownProfile = async (store: LocalStore, user: Uuid): Promise<PersonRow | null> => {
  const newest = (await store.members.where("user").equals(user).sortBy("at")).at(-1);
  if (!newest) return null;
  const { username, phone, avatar, createdAt } = newest;
  return toUnrelatedPersonRow({ id: user, username, phone, avatar_url: avatar, created_at: createdAt });
};

/**
 * Member numbers whose profile is missing or stale, except this person's own. The names of a group that this person
 * left stay as they are. Empty for one that is gone.
 */
export const listUnknownMembers = async (
  { store, platform }: SyncContext,
  group: ConversationId,
  numbers: readonly number[],
): Promise<number[]> => {
  const row = await store.conversations.get(group);
  if (row?.gone !== false) return [];
  const rows = await store.members.bulkGet(toMemberKeys(group, numbers));
  const isStale = (index: number) =>
    hasLeftGroup(row) ? !rows[index] : platform.now() - (rows[index]?.at ?? 0) > staleMs;
  return numbers.filter((number, index) => number !== row.group?.number && isStale(index));
};

const toMemberRow = (conversation: ConversationId, { profile, ...member }: GroupMember, at: number): MemberRow => ({
  conversation,
  number: member.number,
  user: profile?.id ?? "",
  username: profile?.username ?? "",
  phone: profile?.phone ?? "",
  avatar: profile?.avatar_url ?? null,
  createdAt: profile?.created_at ?? 0,
  role: member.role,
  since: member.since,
  left: member.left ? 1 : 0,
  at,
});

/**
 * Full member list: `roster` is the members version of its first page, `since` the version the pages were requested
 * after.
 */
export type CompleteMemberList = { since: number; roster: number; numbers: ReadonlySet<number> };

/** Stores members in one transaction, unless the group was left meanwhile. */
export const writeMembers = (
  { store, platform }: SyncContext,
  group: ConversationId,
  { members, roster }: MemberPage,
  completeList?: CompleteMemberList,
): Promise<void> =>
  store.transaction("rw", [store.conversations, store.members, store.meta], async () => {
    if ((await store.conversations.get(group))?.gone !== false) return;
    const storedVersion = await readStoredMembersVersion(store, group);
    const at = platform.now();
    const rows = members.map((member) => toMemberRow(group, member, at));
    const stored = await store.members.bulkGet(
      toMemberKeys(
        group,
        rows.map(({ number }) => number),
      ),
    );
    // A page older than the stored list adds only members missing there, as former members.
    const newRows =
      roster >= storedVersion
        ? rows
        : rows.filter((_, index) => !stored[index]).map((row) => ({ ...row, left: 1 as const }));
    await store.members.bulkPut(newRows);
    // Another tab may have stored a newer list, and a group that was left and joined again has none.
    if (!completeList || storedVersion !== completeList.since) return;
    const { numbers, since } = completeList;
    const isMissing = ({ number }: MemberRow) => since === 0 && !numbers.has(number);
    await store.queryMembers(group).filter(isMissing).modify({ left: 1 });
    await store.meta.put({ key: toMembersVersionKey(group), value: completeList.roster });
  });
