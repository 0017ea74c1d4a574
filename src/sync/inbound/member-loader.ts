import * as v from "valibot";
import { type GroupMember, groupPath, MemberPage } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { memberPageRows } from "#contract/limits.ts";
import type { Observable } from "#lib/browser/observable.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { asSyncError, type FailureCode, isWorthRetry, SyncError } from "#sync/platform/sync-error.ts";
import { type Context, withRoom } from "#sync/store/context.ts";
import { type MemberRow, rosterKey } from "#sync/store/database.ts";
import { heldRoster, memberKeys, unknownOf } from "#sync/store/members.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import type { LinkState } from "#sync/store/views.ts";

/** Asking the server who members are, and keeping what it says. */

const gatherMs = 30;

/** Else refused for good: not a member any more, as the group's row will say. */
const mayComeLater = (failure: SyncError): boolean => isWorthRetry(failure) || failure.code === "no_room";

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
    // What was overtaken on its way by a newer list adds only whom that does not name: who they were, as they left.
    const fresh =
      roster >= held ? rows : rows.filter((_, index) => !known[index]).map((row) => ({ ...row, left: 1 as const }));
    await store.members.bulkPut(fresh);
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
        if (!mayComeLater(asSyncError(error))) continue;
        hasFailed = true;
        this.#wanted.set(group, new Set([...numbers, ...(this.#wanted.get(group) ?? [])]));
      }
    }
    this.#isAsking = false;
    this.#failures = hasFailed ? this.#failures + 1 : 0;
    this.#schedule(hasFailed ? retryDelayMs(this.#failures, context.platform.random) : gatherMs);
  }

  async #learn(context: Context, group: ConversationId, numbers: number[]): Promise<void> {
    const isAskable = (number: number) => !this.#nobodies.has(`${group} ${number}`);
    // What another tab asked for may be here by now.
    const unknown = (await unknownOf(context, group, numbers)).filter(isAskable);
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

/**
 * Brings the list up to date for somebody who waits for it: after a failure, which `onFailure` hears of, again by
 * itself, as the link that stays up says nothing of a single request. Ends when it is done, refused for good or stopped.
 */
export const bringMembers = (
  context: Context,
  group: ConversationId,
  onFailure: (code: FailureCode) => void,
): (() => void) => {
  const { platform } = context;
  let isStopped = false;
  let failures = 0;
  let cancel: (() => void) | undefined;
  const ask = async (): Promise<void> => {
    try {
      await loadMembers(context, group);
    } catch (error) {
      if (isStopped) return;
      const failure = asSyncError(error);
      onFailure(failure.code);
      if (!mayComeLater(failure)) return;
      const delay = failure.retryAfterMs ?? retryDelayMs(++failures, platform.random);
      cancel = platform.after(delay, () => void ask());
    }
  };
  void ask();
  return () => {
    isStopped = true;
    cancel?.();
  };
};
