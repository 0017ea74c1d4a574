import { hasLeftGroup } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { LocalConversationRow, LocalStore } from "#sync/store/database.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import type { QuotedMessage } from "#sync/store/view-models.ts";
import { waitForStore } from "#sync/store/wait-for-store.ts";
import { applyQuoted } from "./apply/apply-quoted.ts";

/**
 * Whether a placeholder is of a message that this person deleted for themselves. In a private chat it may also be one
 * of a blocked person, and for former members of a group one that was edited later.
 */
const isDeletionForSelf = (row: LocalConversationRow): boolean => row.group !== null && !hasLeftGroup(row);

/** Message that another one answers, from the local store. An unsent one is named by its client id. */
export const readQuotedMessage = (
  { store, unsent }: Pick<SyncContext, "store" | "unsent">,
  conversation: ConversationId,
  target: number | Uuid,
): Promise<QuotedMessage> =>
  store.transaction("r", [store.conversations, store.messages], async () => {
    if (typeof target === "string") {
      const pending = unsent.find("outbox", target);
      if (pending) return { state: "found", body: pending.body, mine: true };
      const own = await store
        .queryMessages(conversation, 0)
        .reverse()
        .filter(({ cid }) => cid === target)
        .first();
      return own ? { state: "found", body: own.body, mine: true, seq: own.seq } : { state: "unavailable" };
    }
    const [row, message] = await Promise.all([
      store.conversations.get(conversation),
      store.messages.get([conversation, target]),
    ]);
    if (!row) return { state: "unavailable" };
    if (target <= row.hidden) return { state: "unavailable", isDeletedByMe: true };
    if (message?.body.type === "withheld") {
      return { state: "unavailable", isWithheld: true, isDeletedByMe: isDeletionForSelf(row) };
    }
    if (!message) return { state: target >= row.storedFrom && target <= row.storedTo ? "unavailable" : "absent" };
    const { body, mine, sender, seq } = message;
    return { state: "found", body, mine: mine === 1, sender, seq };
  });

const newestTimeoutMs = 30_000;

/** Loads the newest messages of a conversation never opened on this device. Resolves to false if they do not come. */
const loadNewest = (port: SyncPort, conversation: ConversationId): Promise<boolean> => {
  port.prioritizeConversation(conversation);
  const isLoaded = async ({ conversations }: LocalStore) => {
    const row = await conversations.get(conversation);
    return row !== undefined && row.storedFrom <= row.storedTo;
  };
  return waitForStore(port, isLoaded, newestTimeoutMs);
};

/**
 * Fetches a message that is older than the stored ones and stores it, so that later changes to it arrive here. Resolves
 * to false if the server does not show it to this person. Rejects with a SyncError.
 */
export const fetchQuotedMessage = async (
  port: SyncPort,
  conversation: ConversationId,
  seq: number,
): Promise<boolean> => {
  const context = port.context.get();
  const before = await context?.store.conversations.get(conversation);
  if (before && !before.gone && before.storedFrom > before.storedTo) await loadNewest(port, conversation);
  const row = await context?.store.conversations.get(conversation);
  // It arrives with the newest messages.
  if (!context || !row || row.storedFrom > row.storedTo || seq >= row.storedFrom) return true;
  const page = await port.request({ type: "page", conversation, direction: "after", seq: seq - 1, limit: 1 });
  await applyQuoted(context, { conversation, seq, revised: row.revised }, page);
  return page.messages[0]?.seq === seq;
};
