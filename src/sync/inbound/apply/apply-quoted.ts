import type { ConversationId } from "#contract/ids.ts";
import type { PageResult } from "#contract/wire/commands.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import { ApplyTransaction } from "./apply-transaction.ts";

/** Request for a message that a reply quotes. `revised` is the row's value at the time of the request. */
type QuotedRequest = { conversation: ConversationId; seq: number; revised: number };

/**
 * Stores a message that a reply quotes and that is older than the stored range. From then on changes of it are applied
 * like those of any stored message; the chat shows it once its page was loaded.
 */
export const applyQuoted = (
  context: SyncContext,
  { conversation, seq, revised }: QuotedRequest,
  page: PageResult,
): Promise<void> => {
  const { store, unsent, me, platform } = context;
  const { conversations, messages, meta } = store;
  return retryOnQuotaError(context, () =>
    store.transaction("rw", [conversations, messages, meta], async () => {
      const transaction = new ApplyTransaction(store, unsent, me, platform.now());
      const row = await transaction.loadRow(conversation);
      const message = page.messages.find((other) => other.seq === seq);
      if (
        !message ||
        row.gone ||
        row.unconfirmed ||
        page.epoch !== row.epoch ||
        seq <= row.hidden ||
        seq >= row.storedFrom
      )
        return;
      await transaction.addMessages(row, [message]);
      // A revision pushed while the page was in flight may be missing in it: it is fetched again.
      row.revised = Math.min(row.revised, revised);
      await transaction.flush();
    }),
  );
};
