import * as v from "valibot";
import { type GroupMember, groupPath, MemberPage } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { memberPageRows } from "#contract/limits.ts";
import type { Observable } from "#lib/browser/observable.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { asSyncError, type FailureCode, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import { type MemberRow, toMembersVersionKey } from "#sync/store/database.ts";
import { listUnknownMembers, readHeldMembersVersion, toMemberKeys } from "#sync/store/members.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import type { LinkState } from "#sync/store/view-models.ts";

/** Asking the server who members are, and keeping what it says. */

const batchDelayMs = 30;

/** Else refused for good: not a member any more, as the group's row will say. */
const isTemporaryFailure = (failure: SyncError): boolean => isRetryableFailure(failure) || failure.code === "no_room";

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

const fetchMemberPage = async ({ platform }: SyncContext, group: Uuid, query: string): Promise<MemberPage> => {
  const answer = await platform.request({ method: "GET", path: `${groupPath(group)}/members?${query}` });
  const parsed = v.safeParse(MemberPage, answer);
  if (!parsed.success) throw new SyncError("unavailable");
  return parsed.output;
};

/** Keeps members, unless the group went while they were on their way. Rejects with "no_room" on a phone that is full. */
const saveMembers = async (
  context: SyncContext,
  group: ConversationId,
  page: MemberPage,
  whole?: CompleteMemberList,
): Promise<void> => {
  try {
    await retryOnQuotaError(context, () => writeMembers(context, group, page, whole), false);
  } catch (error) {
    throw isQuotaError(error) ? new SyncError("no_room") : error;
  }
};

/** All pages of a list: the roster that the first spoke for, and the one they were asked after. */
type CompleteMemberList = { since: number; roster: number; numbers: ReadonlySet<number> };

const writeMembers = (
  { store, platform }: SyncContext,
  group: ConversationId,
  { members, roster }: MemberPage,
  whole: CompleteMemberList | undefined,
): Promise<void> =>
  store.transaction("rw", [store.conversations, store.members, store.meta], async () => {
    if ((await store.conversations.get(group))?.gone !== false) return;
    const held = await readHeldMembersVersion(store, group);
    const at = platform.now();
    const rows = members.map((member) => toMemberRow(group, member, at));
    const known = await store.members.bulkGet(
      toMemberKeys(
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
    await store.queryMembers(group).filter(isMissing).modify({ left: 1 });
    await store.meta.put({ key: toMembersVersionKey(group), value: whole.roster });
  });

type MemberLoaderPorts = {
  platform: Platform;
  link: Observable<LinkState>;
  context: Observable<SyncContext | undefined>;
};

/** Asks for members by their numbers: those that several parts of a screen need in one go, and again until they are here. */
export class MemberLoader {
  readonly #tab: MemberLoaderPorts;
  readonly #requested = new Map<ConversationId, Set<number>>();
  /** Numbers that the server knows nobody of. */
  readonly #nonexistent = new Set<string>();
  #failures = 0;
  #isLoading = false;
  #cancel: (() => void) | undefined;

  constructor(tab: MemberLoaderPorts) {
    this.#tab = tab;
    tab.link.subscribe(() => {
      this.#cancel?.();
      this.#cancel = undefined;
      this.#schedule();
    });
  }

  requestMembers(group: ConversationId, numbers: readonly number[]): void {
    const wanted = this.#requested.get(group) ?? new Set<number>();
    for (const number of numbers) if (!this.#nonexistent.has(`${group} ${number}`)) wanted.add(number);
    if (wanted.size > 0) this.#requested.set(group, wanted);
    this.#schedule();
  }

  #schedule(afterMs = batchDelayMs): void {
    if (this.#requested.size === 0 || this.#isLoading || this.#tab.link.get() !== "online") return;
    this.#cancel ??= this.#tab.platform.startTimer(afterMs, () => void this.#flush());
  }

  async #flush(): Promise<void> {
    this.#cancel = undefined;
    const context = this.#tab.context.get();
    if (!context) return; // the store is being opened: the link comes after it
    const wanted = [...this.#requested];
    this.#requested.clear();
    this.#isLoading = true;
    let hasFailed = false;
    for (const [group, numbers] of wanted) {
      try {
        await this.#loadUnknown(context, group, [...numbers]);
      } catch (error) {
        if (!isTemporaryFailure(asSyncError(error))) continue;
        hasFailed = true;
        this.#requested.set(group, new Set([...numbers, ...(this.#requested.get(group) ?? [])]));
      }
    }
    this.#isLoading = false;
    this.#failures = hasFailed ? this.#failures + 1 : 0;
    this.#schedule(hasFailed ? retryDelayMs(this.#failures, context.platform.random) : batchDelayMs);
  }

  async #loadUnknown(context: SyncContext, group: ConversationId, numbers: number[]): Promise<void> {
    const isAskable = (number: number) => !this.#nonexistent.has(`${group} ${number}`);
    // What another tab asked for may be here by now.
    const unknown = (await listUnknownMembers(context, group, numbers)).filter(isAskable);
    for (let i = 0; i < unknown.length; i += memberPageRows) {
      const some = unknown.slice(i, i + memberPageRows);
      const page = await fetchMemberPage(context, group, `numbers=${some.join()}`);
      await saveMembers(context, group, page);
      const found = new Set(page.members.map(({ number }) => number));
      for (const number of some) if (!found.has(number)) this.#nonexistent.add(`${group} ${number}`);
    }
  }
}

/** A member, asked for when this device does not know them. Rejects with a SyncError. */
export const findOrFetchMember = async (
  context: SyncContext,
  group: ConversationId,
  number: number,
): Promise<MemberRow | undefined> => {
  const find = () => context.store.members.get([group, number]);
  const known = await find();
  if (known) return known;
  await saveMembers(context, group, await fetchMemberPage(context, group, `numbers=${number}`));
  return find();
};

/** Brings the whole list of a group's members up to date. Rejects with a SyncError when that cannot be had. */
export const syncMemberList = async (context: SyncContext, group: ConversationId): Promise<void> => {
  const since = await readHeldMembersVersion(context.store, group);
  const numbers = new Set<number>();
  let roster: number | undefined;
  for (let after: number | null = 0; after !== null; ) {
    const page: MemberPage = await fetchMemberPage(context, group, `since=${since}&after=${after}`);
    roster ??= page.roster;
    after = page.after;
    for (const { number } of page.members) numbers.add(number);
    await saveMembers(context, group, page, after === null ? { since, roster, numbers } : undefined);
  }
};

/**
 * Brings the list up to date for somebody who waits for it: after a failure, which `onFailure` hears of, again by
 * itself, as the link that stays up says nothing of a single request. Ends when it is done, refused for good or stopped.
 */
export const syncMemberListWithRetry = (
  context: SyncContext,
  group: ConversationId,
  onFailure: (code: FailureCode) => void,
): (() => void) => {
  const { platform } = context;
  let isStopped = false;
  let failures = 0;
  let cancel: (() => void) | undefined;
  const ask = async (): Promise<void> => {
    try {
      await syncMemberList(context, group);
    } catch (error) {
      if (isStopped) return;
      const failure = asSyncError(error);
      onFailure(failure.code);
      if (!isTemporaryFailure(failure)) return;
      const delay = failure.retryAfterMs ?? retryDelayMs(++failures, platform.random);
      cancel = platform.startTimer(delay, () => void ask());
    }
  };
  void ask();
  return () => {
    isStopped = true;
    cancel?.();
  };
};
