import type { MessageRow } from "./store";
import type { ErrorCode } from "../../contract/errors";
import type { ConversationId, Uuid } from "../../contract/ids";
import type { Profile, Relation } from "../../contract/people";
import { SyncError } from "./sync-error";

export { SyncError } from "./sync-error";
export type FoundMessage = Pick<MessageRow, "seq" | "at" | "body"> & { key: string; mine: boolean; sender: number };

const missing = (): never => {
  throw new SyncError("unavailable" satisfies ErrorCode);
};

/** Resolves once the message is durably in the outbox; rejects only when it is nowhere, so that the caller keeps the text. */
export const sendText = async (_conversation: ConversationId, _text: string): Promise<void> => missing();
export const retryMessage = async (_cid: Uuid): Promise<void> => missing();
export const discardMessage = async (_cid: Uuid): Promise<void> => missing();
/** The person has seen everything up to `seq`. Cheap to call often. */
export const markViewed = (_conversation: ConversationId, _seq: number): void => {};
/** Removes a conversation from my view; rejects with a SyncError. Needs the network. */
export const hideConversation = async (_conversation: ConversationId): Promise<void> => missing();
/** Looks here first, then through the whole history on the server; `onResults` gets everything found so far, newest first. */
export const searchChat = async (
  _conversation: ConversationId,
  _query: string,
  _onResults: (found: FoundMessage[]) => void,
  _signal?: AbortSignal,
): Promise<{ complete: boolean }> => missing();
/** Takes in what a contacts request answered, before the server's own push of it arrives. */
export const applyRelation = async (_relation: Relation): Promise<void> => missing();
export const setMe = async (_profile: Profile): Promise<void> => missing();
export const saveDraft = (_conversation: ConversationId, _text: string): void => {};
export const readDraft = async (_conversation: ConversationId): Promise<string> => "";
