import type { Receipts } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import type { ReadState } from "#contract/messages/positions.ts";
import type { Command, CommandResults, ReactorPage, Refusal } from "#contract/wire/commands.ts";
import type { MessageInfo } from "#contract/wire/message-info.ts";
import type { CallRpc } from "./calls.ts";
import type { GroupRpc, UserRemoval } from "./groups.ts";
import type {
  CheckedMessage,
  MemberReadState,
  ReactionNews,
  SearchBudget,
  SearchSlice,
  SendOutcome,
} from "./messages.ts";
import type { InboxPosition } from "./notices.ts";

/**
 * Methods of a Conversation, which is the only writer of its messages and decides who may do what. Callers address it
 * by its id, so no method repeats it.
 */
export interface ConversationRpc extends GroupRpc, CallRpc {
  /** Opens the conversation for writing. A connection that was closed is never opened again. */
  openConnection(connection: Uuid): Promise<void>;
  /** Ends a connection: the history stays readable and nobody may write. */
  closeConnection(connection: Uuid): Promise<void>;
  sendMessages(
    user: Uuid,
    messages: readonly CheckedMessage[],
    position: InboxPosition,
  ): Promise<SendOutcome | Refusal>;
  /**
   * Advances a member's read state. A call that changes nothing returns the exact unread count. `isVisibleToPeers`: the
   * other members may see what this member reads.
   */
  updateReceipts(user: Uuid, readState: ReadState, isVisibleToPeers: boolean): Promise<MemberReadState | Refusal>;
  clearHistory(user: Uuid, upTo: number): Promise<MemberReadState | Refusal>;
  /** Replaces the caller's own message by a tombstone for all members and releases its file. */
  deleteForEveryone(user: Uuid, seq: number): Promise<CommandResults["deleteForEveryone"] | Refusal>;
  /** Deletes the caller's own message by client id. If it has not arrived yet, it is refused later. */
  deletePending(user: Uuid, cid: Uuid): Promise<CommandResults["deletePending"] | Refusal>;
  /** Replaces the text or caption of the caller's own message. */
  editMessage(
    user: Uuid,
    edit: Omit<Extract<Command, { type: "editMessage" }>, "type" | "conversation">,
  ): Promise<CommandResults["editMessage"] | Refusal>;
  /** Sets the caller's only reaction to a message, or removes it. */
  react(user: Uuid, command: Extract<Command, { type: "react" }>): Promise<CommandResults["react"] | Refusal>;
  /** Pins a message for all members, or unpins it. In a group only for its owner. */
  pinMessage(
    user: Uuid,
    command: Extract<Command, { type: "pinMessage" }>,
  ): Promise<CommandResults["pinMessage"] | Refusal>;
  /** Page of the members who reacted to a message, newest first, before a revision and of one kind if given. */
  listReactors(
    user: Uuid,
    seq: number,
    query: { emoji?: string | undefined; before?: number | undefined },
  ): Promise<ReactorPage | Refusal>;
  /** Reactions of others to the caller's own messages that were given after a revision. */
  getReactionNews(user: Uuid, since: number): Promise<ReactionNews | Refusal>;
  listRevisions(user: Uuid, query: Extract<Command, { type: "revised" }>): Promise<CommandResults["revised"] | Refusal>;
  /**
   * Delivery state of the caller's own message per member. Readers are listed only if the caller may see them
   * (`seesReads`).
   */
  listReceipts(user: Uuid, seq: number, seesReads: boolean): Promise<Receipts | Refusal>;
  /** Times at which the caller's own message in a private conversation was delivered and, if `seesReads`, read. */
  getMessageInfo(user: Uuid, seq: number, seesReads: boolean): Promise<MessageInfo | Refusal>;
  /** Sets whether the member blocks the peer. Private conversations only; idempotent. */
  setBlocked(user: Uuid, isBlocked: boolean): Promise<void>;
  /**
   * Removes a member whose account is deleted from the group or closes the private chat. Their messages stay.
   * Idempotent.
   */
  removeDeletedUser(user: Uuid): Promise<UserRemoval>;
  /** Removes the name of a deleted author from forwarded messages. Idempotent. */
  anonymizeForwards(author: Uuid): Promise<void>;
  /** Whether a message that this person can see references the file. */
  canReadFile(user: Uuid, file: Uuid): Promise<boolean>;
  /** Whether a member of this group may answer a message of another member, `author`, in their private conversation. */
  mayAnswerInPrivate(user: Uuid, author: Uuid, seq: number): Promise<{ isAllowed: boolean }>;
  /** A message that this person may forward, and its author. */
  findOriginal(user: Uuid, seq: number): Promise<{ body: StoredBody; author: Uuid } | Refusal>;
  listMessages(user: Uuid, query: Extract<Command, { type: "page" }>): Promise<CommandResults["page"] | Refusal>;
  /**
   * Searches one slice of the log within the budget. `before` is where the next slice begins. `sender`: finds messages
   * of this person only.
   */
  searchMessages(
    user: Uuid,
    query: Extract<Command, { type: "search" }>,
    budget: SearchBudget,
    sender?: Uuid,
  ): Promise<SearchSlice | Refusal>;
}
