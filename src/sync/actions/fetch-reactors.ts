import * as v from "valibot";
import type { ConversationId } from "#contract/ids.ts";
import { ReactorPage } from "#contract/wire/commands.ts";
import { getEngine } from "#sync/engine/engine.ts";
import { SyncError } from "#sync/platform/sync-error.ts";

/** Page of the members who reacted to a message, newest first, after the page `before`. Rejects with a SyncError. */
export const fetchReactors = async (
  conversation: ConversationId,
  seq: number,
  before?: number | null,
): Promise<ReactorPage> => {
  const query = typeof before === "number" ? `?before=${before}` : "";
  const path = `/api/conversations/${conversation}/messages/${seq}/reactions${query}`;
  const parsed = v.safeParse(ReactorPage, await getEngine().client.platform.request({ method: "GET", path }));
  if (!parsed.success) throw new SyncError("unavailable");
  return parsed.output;
};
