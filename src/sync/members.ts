import * as v from "valibot";
import { type GroupMember, groupPath, MemberPage } from "../../contract/groups";
import type { ConversationId, Uuid } from "../../contract/ids";
import { memberPageRows } from "../../contract/limits";
import type { Context } from "./context";
import { toOwnRow } from "./rows";
import { type MemberRow, type PersonRow, rosterKey, type Store } from "./store";
import { SyncError } from "./sync-error";
import type { Tab } from "./tab";
import type { Author, Authors } from "./views";

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

/** Keeps members, unless the group went while they were on their way. */
const keep = ({ store, platform }: Context, group: Uuid, page: MemberPage, roster?: number): Promise<void> =>
  store.transaction("rw", [store.conversations, store.members, store.meta], async () => {
    if ((await store.conversations.get(group))?.gone !== false) return;
    const at = platform.now();
    await store.members.bulkPut(page.members.map((member) => toRow(group, member, at)));
    if (roster !== undefined) await store.meta.put({ key: rosterKey(group), value: roster });
  });

/** Asks for members by their numbers, those that several parts of a screen need in one go. */
export class MemberLearner {
  readonly #tab: Tab;
  readonly #wanted = new Map<ConversationId, Set<number>>();
  /** What was asked for already in this page's life, so that nothing is asked for again and again. */
  readonly #asked = new Set<string>();
  #cancel: (() => void) | undefined;

  constructor(tab: Tab) {
    this.#tab = tab;
  }

  want(group: ConversationId, numbers: readonly number[]): void {
    for (const number of numbers) {
      const key = `${group} ${number}`;
      if (this.#asked.has(key)) continue;
      this.#asked.add(key);
      const wanted = this.#wanted.get(group) ?? new Set<number>();
      this.#wanted.set(group, wanted.add(number));
    }
    if (this.#wanted.size > 0) this.#cancel ??= this.#tab.platform.after(gatherMs, () => void this.#flush());
  }

  async #flush(): Promise<void> {
    this.#cancel = undefined;
    const wanted = [...this.#wanted];
    this.#wanted.clear();
    for (const [group, numbers] of wanted) {
      const all = [...numbers];
      for (let i = 0; i < all.length; i += memberPageRows) await this.#ask(group, all.slice(i, i + memberPageRows));
    }
  }

  async #ask(group: ConversationId, numbers: number[]): Promise<void> {
    const context = this.#tab.context.get();
    try {
      if (!context) throw new SyncError("offline");
      await keep(context, group, await askPage(context, group, `numbers=${numbers.join()}`));
    } catch {
      // They are asked for again by whoever still shows them once the network is back.
      for (const number of numbers) this.#asked.delete(`${group} ${number}`);
    }
  }
}

/** Brings the whole list of a group's members up to date. Rejects with a SyncError when that cannot be had. */
export const loadMembers = async (context: Context, group: Uuid): Promise<void> => {
  const since = await heldRoster(context.store, group);
  let roster: number | undefined;
  for (let after: number | null = 0; after !== null; ) {
    const page: MemberPage = await askPage(context, group, `since=${since}&after=${after}`);
    roster ??= page.roster;
    after = page.after;
    await keep(context, group, page, after === null ? roster : undefined);
  }
};

const heldRoster = async (store: Store, group: Uuid): Promise<number> =>
  ((await store.meta.get(rosterKey(group)))?.value as number | undefined) ?? 0;

/** Whether the whole list of members is held, as of the group's newest roster. */
export const hasAllMembers = async (store: Store, group: Uuid, roster: number): Promise<boolean> =>
  (await heldRoster(store, group)) >= roster;

/** Those of these members that are known here. */
export const readAuthors = async (
  store: Store,
  me: Uuid,
  group: ConversationId,
  numbers: readonly number[],
): Promise<Authors> => {
  const rows = await store.members.bulkGet(numbers.map((number): [ConversationId, number] => [group, number]));
  const known = rows.filter((row) => row !== undefined);
  const people = await store.people.bulkGet(known.map(({ user }) => user));
  const authors: Record<number, Author> = {};
  for (const [index, row] of known.entries()) {
    const { username, avatar, phone } = people[index] ?? row;
    authors[row.number] = { user: row.user, name: username, avatar, phone, me: row.user === me };
  }
  return authors;
};

/** Somebody as the group that was asked last showed them; null for a person who never was in one of mine. */
export const readMember = async (store: Store, user: Uuid): Promise<PersonRow | null> => {
  const newest = (await store.members.where("user").equals(user).sortBy("at")).at(-1);
  if (!newest) return null;
  const { username, phone, avatar, createdAt } = newest;
  return toOwnRow({ id: user, username, phone, avatar_url: avatar, created_at: createdAt });
};

/** Which of these members this device does not know, or has not heard of for long. */
export const unknownOf = async (
  { store, platform }: Context,
  group: ConversationId,
  numbers: readonly number[],
): Promise<number[]> => {
  const rows = await store.members.bulkGet(numbers.map((number): [ConversationId, number] => [group, number]));
  return numbers.filter((_, index) => platform.now() - (rows[index]?.at ?? 0) > staleMs);
};
