import * as v from "valibot";
import { type GroupMember, groupPath, MemberPage } from "../../contract/groups";
import type { ConversationId, Uuid } from "../../contract/ids";
import { memberPageRows } from "../../contract/limits";
import { retryDelayMs } from "../lib/backoff";
import type { Observable } from "../lib/observable";
import { type Context, withRoom } from "./context";
import type { Platform } from "./platform";
import { meKey } from "./profile";
import { isQuotaError } from "./room";
import { toOwnRow } from "./rows";
import { type MemberRow, type PersonRow, rosterKey, type Store } from "./store";
import { asSyncError, isWorthRetry, SyncError } from "./sync-error";
import type { Author, Authors, LinkState } from "./views";

/** The people behind member numbers. What is known of a contact is newer than what was once told of a member. */

const gatherMs = 30;
const staleMs = 24 * 3_600_000; // a name and a picture are asked for again after this long, when they are shown

const toRow = (conversation: ConversationId, { profile, ...member }: GroupMember, at: number): MemberRow => ({
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

const askPage = async ({ platform }: Context, group: Uuid, query: string): Promise<MemberPage> => {
  const answer = await platform.request({ method: "GET", path: `${groupPath(group)}/members?${query}` });
  const parsed = v.safeParse(MemberPage, answer);
  if (!parsed.success) throw new SyncError("unavailable");
  return parsed.output;
};

/** What is known of the people behind members wins only while the server keeps it level. */
const isLive = (person: PersonRow | undefined): person is PersonRow => person !== undefined && person.state !== "none";

const memberKeys = (group: ConversationId, numbers: readonly number[]): [ConversationId, number][] =>
  numbers.map((number) => [group, number]);

/** Keeps members, unless the group went while they were on their way. Rejects with "no_room" on a phone that is full. */
const keep = async (context: Context, group: ConversationId, page: MemberPage, whole?: WholeList): Promise<void> => {
  try {
    await withRoom(context, () => write(context, group, page, whole), false);
  } catch (error) {
    throw isQuotaError(error) ? new SyncError("no_room") : error;
  }
};

/** All pages of a list: the roster that the first spoke for, and the one they were asked after. */
type WholeList = { since: number; roster: number; numbers: ReadonlySet<number> };

const write = (
  { store, platform }: Context,
  group: ConversationId,
  { members, roster }: MemberPage,
  whole: WholeList | undefined,
): Promise<void> =>
  store.transaction("rw", [store.conversations, store.members, store.meta], async () => {
    if ((await store.conversations.get(group))?.gone !== false) return;
    const held = await heldRoster(store, group);
    const at = platform.now();
    const rows = members.map((member) => toRow(group, member, at));
    const known = await store.members.bulkGet(
      memberKeys(
        group,
        rows.map(({ number }) => number),
      ),
    );
    // What was overtaken on its way by a newer list adds whom that does not name.
    await store.members.bulkPut(rows.filter((_, index) => roster >= held || !known[index]));
    // Another tab may have brought it further, and a group that went and came back has none of it.
    if (!whole || held !== whole.since) return;
    const { numbers, since } = whole;
    const isMissing = ({ number }: MemberRow) => since === 0 && !numbers.has(number);
    await store.membersOf(group).filter(isMissing).modify({ left: 1 });
    await store.meta.put({ key: rosterKey(group), value: whole.roster });
  });

type LearningTab = {
  platform: Platform;
  link: Observable<LinkState>;
  context: Observable<Context | undefined>;
};

/** Asks for members by their numbers: those that several parts of a screen need in one go, and again until they are here. */
export class MemberLearner {
  readonly #tab: LearningTab;
  readonly #wanted = new Map<ConversationId, Set<number>>();
  /** Numbers that the server knows nobody of. */
  readonly #nobodies = new Set<string>();
  #failures = 0;
  #isAsking = false;
  #cancel: (() => void) | undefined;

  constructor(tab: LearningTab) {
    this.#tab = tab;
    tab.link.subscribe(() => {
      this.#cancel?.();
      this.#cancel = undefined;
      this.#schedule();
    });
  }

  want(group: ConversationId, numbers: readonly number[]): void {
    const wanted = this.#wanted.get(group) ?? new Set<number>();
    for (const number of numbers) if (!this.#nobodies.has(`${group} ${number}`)) wanted.add(number);
    if (wanted.size > 0) this.#wanted.set(group, wanted);
    this.#schedule();
  }

  #schedule(afterMs = gatherMs): void {
    if (this.#wanted.size === 0 || this.#isAsking || this.#tab.link.get() !== "online") return;
    this.#cancel ??= this.#tab.platform.after(afterMs, () => void this.#flush());
  }

  async #flush(): Promise<void> {
    this.#cancel = undefined;
    const context = this.#tab.context.get();
    if (!context) return; // the store is being opened: the link comes after it
    const wanted = [...this.#wanted];
    this.#wanted.clear();
    this.#isAsking = true;
    let hasFailed = false;
    for (const [group, numbers] of wanted) {
      try {
        await this.#learn(context, group, [...numbers]);
      } catch (error) {
        // Refused for good: not a member any more, as the group's row will say.
        const failure = asSyncError(error);
        if (!isWorthRetry(failure) && failure.code !== "no_room") continue;
        hasFailed = true;
        this.#wanted.set(group, new Set([...numbers, ...(this.#wanted.get(group) ?? [])]));
      }
    }
    this.#isAsking = false;
    this.#failures = hasFailed ? this.#failures + 1 : 0;
    this.#schedule(hasFailed ? retryDelayMs(this.#failures, context.platform.random) : gatherMs);
  }

  async #learn(context: Context, group: ConversationId, numbers: number[]): Promise<void> {
    const unknown = await unknownOf(context, group, numbers); // what another tab asked for may be here by now
    for (let i = 0; i < unknown.length; i += memberPageRows) {
      const some = unknown.slice(i, i + memberPageRows);
      const page = await askPage(context, group, `numbers=${some.join()}`);
      await keep(context, group, page);
      const found = new Set(page.members.map(({ number }) => number));
      for (const number of some) if (!found.has(number)) this.#nobodies.add(`${group} ${number}`);
    }
  }
}

/** A member, asked for when this device does not know them. Rejects with a SyncError. */
export const findMember = async (
  context: Context,
  group: ConversationId,
  number: number,
): Promise<MemberRow | undefined> => {
  const find = () => context.store.members.get([group, number]);
  const known = await find();
  if (known) return known;
  await keep(context, group, await askPage(context, group, `numbers=${number}`));
  return find();
};

/** Brings the whole list of a group's members up to date. Rejects with a SyncError when that cannot be had. */
export const loadMembers = async (context: Context, group: ConversationId): Promise<void> => {
  const since = await heldRoster(context.store, group);
  const numbers = new Set<number>();
  let roster: number | undefined;
  for (let after: number | null = 0; after !== null; ) {
    const page: MemberPage = await askPage(context, group, `since=${since}&after=${after}`);
    roster ??= page.roster;
    after = page.after;
    for (const { number } of page.members) numbers.add(number);
    await keep(context, group, page, after === null ? { since, roster, numbers } : undefined);
  }
};

const heldRoster = async (store: Store, group: ConversationId): Promise<number> =>
  ((await store.meta.get(rosterKey(group)))?.value as number | undefined) ?? 0;

/** Members with what is known of the people they are. */
const withPeople = async (store: Store, me: Uuid, rows: readonly MemberRow[]): Promise<MemberRow[]> => {
  const people = await store.people.bulkGet(rows.map(({ user }) => user));
  const own = (await store.meta.get(meKey))?.value as PersonRow | undefined;
  return rows.map((row, index) => {
    const person = row.user === me ? own : people[index];
    if (!person || (person !== own && !isLive(person))) return row;
    const { username, phone, avatar } = person;
    return { ...row, username, phone, avatar };
  });
};

/** Those who are members as far as this device knows, and the roster up to which it knows all of them. */
export const readMembers = (
  store: Store,
  me: Uuid,
  group: ConversationId,
): Promise<{ members: MemberRow[]; roster: number }> =>
  store.transaction("r", [store.members, store.people, store.meta], async () => {
    const rows = await store
      .membersOf(group)
      .filter(({ left }) => left === 0)
      .toArray();
    return { members: await withPeople(store, me, rows), roster: await heldRoster(store, group) };
  });

/** Those of these members that are known here. */
export const readAuthors = async (
  store: Store,
  me: Uuid,
  group: ConversationId,
  numbers: readonly number[],
): Promise<Authors> => {
  const rows = await store.members.bulkGet(memberKeys(group, numbers));
  const authors: Record<number, Author> = {};
  for (const { number, user, username, avatar, phone } of await withPeople(
    store,
    me,
    rows.filter((row) => row !== undefined),
  ))
    authors[number] = { user, name: username, avatar, phone, me: user === me };
  return authors;
};

/** Somebody as the group that was asked last showed them; null for a person who never was in one of mine. */
export const readMember = async (store: Store, user: Uuid): Promise<PersonRow | null> => {
  const newest = (await store.members.where("user").equals(user).sortBy("at")).at(-1);
  if (!newest) return null;
  const { username, phone, avatar, createdAt } = newest;
  return toOwnRow({ id: user, username, phone, avatar_url: avatar, created_at: createdAt });
};

/** Which of these members this device does not know, or has not heard of for long. Of a group that is gone, nobody. */
export const unknownOf = async (
  { store, platform }: Context,
  group: ConversationId,
  numbers: readonly number[],
): Promise<number[]> => {
  if ((await store.conversations.get(group))?.gone !== false) return [];
  const rows = await store.members.bulkGet(memberKeys(group, numbers));
  return numbers.filter((_, index) => platform.now() - (rows[index]?.at ?? 0) > staleMs);
};
