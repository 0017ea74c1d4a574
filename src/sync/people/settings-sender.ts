import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { type SettingsChange, VersionedSettings } from "#contract/settings/settings.ts";
import type { OperationSender } from "#sync/outbox/operation-runner.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalStore } from "#sync/store/database.ts";
import {
  changesStatusAudience,
  clearSentSettings,
  mergeServerSettings,
  updateSettingsRow,
} from "#sync/store/settings-rows.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/** Marks queued statuses as failed that more people could read than their author saw. The author may send them again. */
const failRestrictedPosts = ({ postbox }: LocalStore, error: ErrorCode): Promise<unknown> =>
  postbox
    .filter(({ state, audience }) => state === "queued" && audience !== "everyone" && audience !== "nobody")
    .modify({ state: "failed", error });

/**
 * Sends changed settings. `onRefused` is called if the server refuses a change for good; the previous settings then apply
 * again. `onSettled` is called after each change that was confirmed or refused.
 */
export const createSettingsSender = (
  { platform, store }: SyncContext,
  onRefused: () => void,
  onSettled: () => void,
): OperationSender<SettingsChange> => ({
  async send(wanted) {
    const answer = await platform.request({ method: "PATCH", path: "/api/settings", body: wanted });
    const saved = v.safeParse(VersionedSettings, answer);
    if (!saved.success) throw new SyncError("unavailable");
    await updateSettingsRow(store, (row) => clearSentSettings(mergeServerSettings(row, saved.output), wanted));
    onSettled();
  },
  async handleRefusal(wanted, failure) {
    await store.transaction("rw", [store.meta, store.postbox], async () => {
      await updateSettingsRow(store, (row) => clearSentSettings(row, wanted));
      if (changesStatusAudience(wanted)) await failRestrictedPosts(store, failure.code as ErrorCode);
    });
    onRefused();
    onSettled();
  },
});
