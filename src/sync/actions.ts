import type { ConversationId, Uuid } from "../../contract/ids";
import type { Relation } from "../../contract/people";
import { takeIn } from "./context";
import { running, type Sync } from "./engine";
import { askByHttp } from "./http-carrier";
import { type FoundMessage, search } from "./search";
import { SyncError } from "./sync-error";
import { discard, retry, writeText } from "./writing";

export type { FoundMessage } from "./search";
export { SyncError } from "./sync-error";

const getSync = (): Sync => {
  const sync = running.get();
  if (!sync) throw new SyncError("unavailable");
  return sync;
};

/** Resolves once the message is durably in the outbox; rejects only when it is nowhere, so that the caller keeps the text. */
export const sendText = async (conversation: ConversationId, text: string): Promise<void> =>
  writeText(getSync().tab, conversation, text);

export const retryMessage = async (cid: Uuid): Promise<void> => retry(getSync().tab, cid);
export const discardMessage = async (cid: Uuid): Promise<void> => discard(getSync().tab, cid);

/** The person has seen everything up to `seq`. Cheap to call often. */
export const markViewed = (conversation: ConversationId, seq: number): void => {
  running.get()?.viewed.mark(conversation, seq);
};

/**
 * Removes a conversation from my view; rejects with a SyncError. Needs the network, and goes by HTTP: a socket
 * without a network keeps what it is given and may deliver it long after the person was told that it failed.
 */
export const hideConversation = async (conversation: ConversationId): Promise<void> => {
  const { tab } = getSync();
  const { hidden } = await askByHttp(tab.platform, { type: "hide", conversation });
  const context = tab.context.get();
  if (context) await takeIn(context, [{ type: "hidden", conversation, upTo: hidden }]);
};

/** Looks here first, then through the whole history on the server; `onResults` gets everything found so far, newest first. */
export const searchChat = async (
  conversation: ConversationId,
  query: string,
  onResults: (found: FoundMessage[]) => void,
  signal?: AbortSignal,
): Promise<{ complete: boolean }> => search(getSync().tab, conversation, query, onResults, signal);

/** Takes in what a contacts request answered, before the server's own push of it arrives. */
export const applyRelation = async (relation: Relation): Promise<void> => {
  const context = running.get()?.tab.context.get();
  if (!context) return;
  const known = await context.store.people.get(relation.profile.id);
  // The push of something newer may have been faster than this answer.
  if (known && known.since > relation.since) return;
  await takeIn(context, [{ type: "person", relation }]);
};

/** Keeps what is typed and not sent; an empty text forgets it. Cheap to call at every key. */
export const saveDraft = (conversation: ConversationId, text: string): void => {
  running.get()?.drafts.save(conversation, text);
};
export const readDraft = async (conversation: ConversationId): Promise<string> =>
  (await running.get()?.drafts.read(conversation)) ?? "";
