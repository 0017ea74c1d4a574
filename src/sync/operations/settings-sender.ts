import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { type Exceptions, type Settings, type SettingsChange, VersionedSettings } from "#contract/settings/settings.ts";
import type { OperationSender } from "#sync/platform/operation-runner.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalStore } from "#sync/store/database.ts";
import {
  clearSentSettings,
  mergeExceptionList,
  mergeServerSettings,
  readSettingsRow,
  updateSettingsRow,
} from "#sync/store/settings-rows.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/**
 * Marks queued statuses as failed that more people could read than their author saw. The author may resend them, with
 * the refused audience and exceptions, which stay in their rows.
 */
const failRestrictedPosts = (
  { postbox }: LocalStore,
  { statusesTo, exceptions }: SettingsChange,
  excepted: Exceptions | undefined,
  error: ErrorCode,
): Promise<unknown> =>
  postbox
    .filter(({ state, audience }) => state === "queued" && audience !== "everyone" && audience !== "nobody")
    .modify((row) => {
      Object.assign(row, { state: "failed", error });
      if (statusesTo) row.audience ??= statusesTo;
      if (exceptions?.statusesTo) row.excepted = { before: excepted?.statusesTo ?? [], wanted: exceptions.statusesTo };
    });

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
  { platform, store }: SyncContext,
  onRefused: () => void,
  onSettled: () => void,
): OperationSender<SettingsChange> => ({
  async send(wanted) {
    const request = async (method: "GET" | "PATCH", body?: SettingsChange): Promise<VersionedSettings> => {
      const answer = v.safeParse(VersionedSettings, await platform.request({ method, path: "/api/settings", body }));
      if (!answer.success) throw new SyncError("unavailable");
      return answer.output;
    };
    const { excepted } = await readSettingsRow(store);
    const merged = wanted.exceptions
      ? mergeExceptions(wanted, excepted ?? {}, (await request("GET")).settings)
      : wanted;
    const saved = await request("PATCH", merged);
    await updateSettingsRow(store, (row) => {
      const next = clearSentSettings(mergeServerSettings(row, saved), wanted);
      // A list that was changed again meanwhile was changed from the one just sent.
      return next.wanted.exceptions ? { ...next, excepted: { ...row.excepted, ...wanted.exceptions } } : next;
    });
    onSettled();
  },
  async handleRefusal(wanted, failure) {
    await store.transaction("rw", [store.meta, store.postbox], async () => {
      const { excepted } = await readSettingsRow(store);
      await updateSettingsRow(store, (row) => clearSentSettings(row, wanted));
      const audience = wanted.statusesTo ?? wanted.exceptions?.statusesTo;
      if (audience !== undefined) await failRestrictedPosts(store, wanted, excepted, failure.code as ErrorCode);
    });
    onRefused();
    onSettled();
  },
});
