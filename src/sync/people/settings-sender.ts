import * as v from "valibot";
import { KeptSettings } from "#contract/settings.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isWorthRetry, SyncError } from "#sync/platform/sync-error.ts";
import type { Context } from "#sync/store/context.ts";
import { isWaiting, readSettings, settled, takeKept, updateSettings } from "#sync/store/settings-rows.ts";

/**
 * Brings to the server what was changed of the settings on this phone, again and again until it has it. `refused`: the
 * server will never take what was changed, and it is as it was before.
 */
export const makeSettingsSender = (context: Context, refused: () => void): Retry =>
  new Retry(context.platform, async () => {
    const { store } = context;
    const row = await readSettings(store);
    if (!isWaiting(row)) return "done";
    const { wanted } = row;
    const kept = await ask(context, wanted);
    await updateSettings(store, (now) => settled(kept ? takeKept(now, kept) : now, wanted));
    if (!kept) refused();
    return "again"; // it may have been changed meanwhile
  });

/** Undefined when it was refused for good. */
async function ask({ platform }: Context, wanted: object): Promise<KeptSettings | undefined> {
  try {
    const answer = await platform.request({ method: "PATCH", path: "/api/settings", body: wanted });
    const parsed = v.safeParse(KeptSettings, answer);
    if (!parsed.success) throw new SyncError("unavailable");
    return parsed.output;
  } catch (error) {
    if (isWorthRetry(asSyncError(error))) throw error;
    return undefined;
  }
}
