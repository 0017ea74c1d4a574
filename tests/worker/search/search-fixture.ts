import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { ConversationId } from "#contract/ids.ts";
import { pageMaxBytes } from "#contract/limits/conversations.ts";
import { searchResultsMax, searchRowsMax } from "#contract/limits/search.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { SearchIndex } from "#worker/objects/conversation/log/search-index.ts";
import type { SearchBudget } from "#worker/objects/rpc/messages.ts";

/** Budget of a request at its beginning. */
export const searchBudget: SearchBudget = { messages: searchResultsMax, bytes: pageMaxBytes, rows: searchRowsMax };

const isIndexed = (id: ConversationId): Promise<boolean> =>
  runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage: { sql } }) => {
    const { head } = sql.exec<{ head: number }>("SELECT max(seq) AS head FROM messages").one();
    return new SearchIndex(sql).isComplete(head);
  });

/** Waits until all complete blocks of a conversation are indexed, which a search begins. */
export const waitUntilIndexed = async (id: ConversationId): Promise<void> => {
  await waitUntil(() => isIndexed(id));
};
