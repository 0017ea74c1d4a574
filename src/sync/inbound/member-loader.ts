import * as v from "valibot";
import { groupPath, MemberPage } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { memberPageRows } from "#contract/limits/groups.ts";
import type { Observable } from "#lib/browser/observable.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { isQuotaError } from "#sync/platform/database-errors.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { asSyncError, type FailureCode, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import type { MemberRow } from "#sync/store/database.ts";
import {
  type CompleteMemberList,
  listUnknownMembers,
  readStoredMembersVersion,
  writeMembers,
} from "#sync/store/members.ts";

import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import type { LinkState } from "#sync/store/view-models.ts";

/** Fetches and stores group members. */

const batchDelayMs = 30;

/**
 * Whether a retry can succeed. Any other refusal is final: this person is no longer a member, as the group's row will
 * show.
 */
const isTemporaryFailure = (failure: SyncError): boolean => isRetryableFailure(failure) || failure.code === "no_room";

const fetchMemberPage = async ({ platform }: SyncContext, group: Uuid, query: string): Promise<MemberPage> => {
  const answer = await platform.request({ method: "GET", path: `${groupPath(group)}/members?${query}` });
  const parsed = v.safeParse(MemberPage, answer);
  if (!parsed.success) throw new SyncError("unavailable");
  return parsed.output;
};

/** Stores members, unless the group was left meanwhile. Rejects with "no_room" on a full device. */
const saveMembers = async (
  context: SyncContext,
  group: ConversationId,
  page: MemberPage,
  completeList?: CompleteMemberList,
): Promise<void> => {
  try {
    await retryOnQuotaError(context, () => writeMembers(context, group, page, completeList), false);
  } catch (error) {
    throw isQuotaError(error) ? new SyncError("no_room") : error;
  }
};

export type MemberLoaderPorts = {
  platform: Platform;
  link: Observable<LinkState>;
  context: Observable<SyncContext | undefined>;
};

/** Fetches members by number. Batches the requests of several components and retries until the members are stored. */
export class MemberLoader {
  readonly #ports: MemberLoaderPorts;
  readonly #requested = new Map<ConversationId, Set<number>>();
  /** Member numbers unknown to the server. */
  readonly #nonexistent = new Set<string>();
  #failures = 0;
  #isLoading = false;
  #cancel: (() => void) | undefined;

  constructor(ports: MemberLoaderPorts) {
    this.#ports = ports;
    ports.link.subscribe(() => {
      this.#cancel?.();
      this.#cancel = undefined;
      this.#schedule();
    });
  }

  requestMembers(group: ConversationId, numbers: readonly number[]): void {
    const requested = this.#requested.get(group) ?? new Set<number>();
    for (const number of numbers) if (!this.#nonexistent.has(`${group} ${number}`)) requested.add(number);
    if (requested.size > 0) this.#requested.set(group, requested);
    this.#schedule();
  }

  #schedule(afterMs = batchDelayMs): void {
    if (this.#requested.size === 0 || this.#isLoading || this.#ports.link.get() !== "online") return;
    this.#cancel ??= this.#ports.platform.startTimer(afterMs, () => void this.#flush());
  }

  async #flush(): Promise<void> {
    this.#cancel = undefined;
    const context = this.#ports.context.get();
    if (!context) return; // the database is being opened; the link state changes after that
    const requested = [...this.#requested];
    this.#requested.clear();
    this.#isLoading = true;
    let hasFailed = false;
    for (const [group, numbers] of requested) {
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
    const mayExist = (number: number) => !this.#nonexistent.has(`${group} ${number}`);
    // Another tab may have stored some of them meanwhile.
    const unknown = (await listUnknownMembers(context, group, numbers)).filter(mayExist);
    for (let i = 0; i < unknown.length; i += memberPageRows) {
      const batch = unknown.slice(i, i + memberPageRows);
      const page = await fetchMemberPage(context, group, `numbers=${batch.join()}`);
      await saveMembers(context, group, page);
      const found = new Set(page.members.map(({ number }) => number));
      for (const number of batch) if (!found.has(number)) this.#nonexistent.add(`${group} ${number}`);
    }
  }
}

/** Member by number, fetched if not stored. Rejects with SyncError. */
export const findOrFetchMember = async (
  context: SyncContext,
  group: ConversationId,
  number: number,
): Promise<MemberRow | undefined> => {
  const read = () => context.store.members.get([group, number]);
  const stored = await read();
  if (stored) return stored;
  await saveMembers(context, group, await fetchMemberPage(context, group, `numbers=${number}`));
  return read();
};

/** Brings a group's full member list up to date. Rejects with SyncError. */
export const syncMemberList = async (context: SyncContext, group: ConversationId): Promise<void> => {
  const since = await readStoredMembersVersion(context.store, group);
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
 * Brings a group's full member list up to date for a waiting screen. Temporary failures are reported to `onFailure` and
 * retried by a timer, since the link may stay up while a single request fails. Ends when done, refused for good or
 * stopped.
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
  const load = async (): Promise<void> => {
    try {
      await syncMemberList(context, group);
    } catch (error) {
      if (isStopped) return;
      const failure = asSyncError(error);
      onFailure(failure.code);
      if (!isTemporaryFailure(failure)) return;
      const delay = failure.retryAfterMs ?? retryDelayMs(++failures, platform.random);
      cancel = platform.startTimer(delay, () => void load());
    }
  };
  void load();
  return () => {
    isStopped = true;
    cancel?.();
  };
};
