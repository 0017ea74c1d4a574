import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { type Exceptions, type Settings, type SettingsChange, VersionedSettings } from "#contract/settings/settings.ts";
import type { OperationSender } from "#sync/platform/operation-runner.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { mergeExceptionList } from "#sync/store/exception-list.ts";
import { storeServerSettings } from "#sync/store/settings-rows.ts";
import { commitUnsent, type SyncContext } from "#sync/store/sync-context.ts";
import { changedSettings, type Operation } from "#sync/unsent/operations.ts";
import type { PostQueueRow } from "#sync/unsent/post-queue-row.ts";
import { changePost, listQueuedPosts } from "#sync/unsent/queued-posts.ts";
import type { UnsentChange } from "#sync/unsent/unsent-state.ts";

/** Changes that remain after some were sent: values that were changed again since, undefined if there are none. */
const withoutSent = (wanted: SettingsChange, sent: SettingsChange): SettingsChange | undefined => {
  const isSent = ([name, value]: [string, unknown]): boolean =>
    JSON.stringify(value) === JSON.stringify(sent[name as keyof SettingsChange]);
  const left = Object.entries(wanted).filter((entry) => !isSent(entry));
  return left.length > 0 ? Object.fromEntries(left) : undefined;
};

/**
 * Changes that mark queued statuses as failed that more people could read than their author saw. The author may resend
 * them, with the refused audience and exceptions, which stay in their rows.
 */
const failRestrictedPosts = (
  { unsent, platform }: SyncContext,
  { statusesTo, exceptions }: SettingsChange,
  excepted: Exceptions | undefined,
  error: ErrorCode,
): UnsentChange[] => {
  const isRestricted = ({ state, audience }: PostQueueRow) =>
    state === "queued" && audience !== "everyone" && audience !== "nobody";
  const fail = (row: PostQueueRow): PostQueueRow => {
    const failed: PostQueueRow = { ...row, state: "failed", error };
    if (statusesTo) failed.audience ??= statusesTo;
    if (exceptions?.statusesTo) failed.excepted = { before: excepted?.statusesTo ?? [], wanted: exceptions.statusesTo };
    return failed;
  };
  return listQueuedPosts(unsent)
    .filter(isRestricted)
    .map(({ id }) => changePost(id, platform.now(), (row) => (isRestricted(row) ? fail(row) : row)));
};

/**
 * Change with exceptions merged into the server's: another device may have excepted somebody since `before` was read,
 * and that person must not see anything because of this change.
 */
const mergeExceptions = (wanted: SettingsChange, before: Exceptions, now: Settings): SettingsChange => {
  const names = Object.keys(wanted.exceptions ?? {}) as (keyof Exceptions)[];
  const exceptions = Object.fromEntries(
    names.map((name) => [
      name,
      mergeExceptionList(before[name] ?? [], wanted.exceptions?.[name] ?? [], now.exceptions[name] ?? []),
    ]),
  );
  const audiences = names.flatMap((name) =>
    name !== "presence" && wanted[name] === "contacts" && exceptions[name]?.length ? [[name, "contacts_except"]] : [],
  );
  return { ...wanted, ...Object.fromEntries(audiences), exceptions };
};

/**
 * Sends changed settings. `onRefused` is called if the server refuses a change for good; the previous settings then
 * apply again. `onSettled` is called after each change that was confirmed or refused.
 */
export const createSettingsSender = (
  context: SyncContext,
  onRefused: () => void,
  onSettled: () => void,
): OperationSender<Operation<"settings">> => {
  const { platform, store } = context;
  /** Ends the changes that were sent. A list that was changed again meanwhile was changed from the one just sent. */
  const endSent = (sent: SettingsChange, isAccepted: boolean, others: readonly UnsentChange[] = []): Promise<void> => {
    const end = changedSettings.update({}, platform.now(), (row) => {
      const wanted = row && withoutSent(row.wanted, sent);
      if (!row || !wanted) return undefined;
      const excepted = isAccepted && wanted.exceptions ? { ...row.excepted, ...sent.exceptions } : row.excepted;
      return { wanted, ...(excepted ? { excepted } : {}) };
    });
    return commitUnsent(context, [...others, end]);
  };
  return {
    async send({ wanted, excepted }) {
      const request = async (method: "GET" | "PATCH", body?: SettingsChange): Promise<VersionedSettings> => {
        const answer = v.safeParse(VersionedSettings, await platform.request({ method, path: "/api/settings", body }));
        if (!answer.success) throw new SyncError("unavailable");
        return answer.output;
      };
      const merged = wanted.exceptions
        ? mergeExceptions(wanted, excepted ?? {}, (await request("GET")).settings)
        : wanted;
      const saved = await request("PATCH", merged);
      await store.transaction("rw", store.meta, () => storeServerSettings(store, saved));
      await endSent(wanted, true);
      onSettled();
    },
    async handleRefusal({ wanted, excepted }, failure) {
      // In one transaction: a status must not be sent to more people than its author saw.
      const audience = wanted.statusesTo ?? wanted.exceptions?.statusesTo;
      const isOfPosts = audience !== undefined;
      const failures = isOfPosts ? failRestrictedPosts(context, wanted, excepted, failure.code as ErrorCode) : [];
      await endSent(wanted, false, failures);
      onRefused();
      onSettled();
    },
  };
};
