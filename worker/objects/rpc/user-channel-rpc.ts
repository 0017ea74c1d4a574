import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { Call, CallSignals, DeviceId } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { PushSubscriptionBody, PushTestResult } from "#contract/push.ts";
import type { DraftList } from "#contract/settings/drafts.ts";
import type { MessageFlags } from "#contract/settings/message-flags.ts";
import type { Presence, VersionedSettings } from "#contract/settings/settings.ts";
import type { Command, CommandResults, ListPage, Refusal } from "#contract/wire/commands.ts";
import type { GlobalSearch, GlobalSearchResult } from "#contract/wire/global-search.ts";
import type { CallSignal } from "./calls.ts";
import type { ConversationNotice, NoticeOutcome } from "./notices.ts";

/** Push subscription with the public address under which its device subscribed. */
export type NewPushSubscription = PushSubscriptionBody & { origin: string };

/** Invitation to a group as a notification announces it: when it was sent, and the name of its sender. */
export type InvitationNotice = { id: Uuid; at: number; sender: string };

/**
 * Methods of a person's UserChannel, which holds their sockets and inbox. Callers address it by the person's id, so no
 * method repeats it.
 */
export interface UserChannelRpc {
  /** Runs a command of this person, by frame or HTTP, for a session. */
  execute<T extends Command["type"]>(
    command: Extract<Command, { type: T }>,
    session?: Uuid,
  ): Promise<CommandResults[T] | Refusal>;
  /** Searches several conversations of this person, within the person's limits. */
  searchConversations(search: GlobalSearch): Promise<GlobalSearchResult | Refusal>;
  /**
   * From a Conversation: pushes to the sockets, then writes the inbox row. "written" confirms the notice. "held" means
   * that the row is written with the next changes, and is lost if this instance dies first. "pushing" means the same
   * until devices without a socket are notified; the notice has to be repeated as a whole.
   */
  notify(notice: ConversationNotice): Promise<NoticeOutcome>;
  /**
   * From the Worker: changed relations of other people to this person, and with the own one all open invitations to
   * groups. Returning confirms.
   */
  updateRelations(relations: Relation[], invitations?: InvitationNotice[]): Promise<void>;
  /** From the Worker: this person's settings. Returning confirms. */
  updateSettings(settings: VersionedSettings): Promise<void>;
  /** From the Worker: a security event of this account for the other devices. Returning confirms. */
  addSecurityNotice(notice: SecurityNotice): Promise<void>;
  /** From the peer's channel in a private conversation: presence of this person as far as the peer may see it. */
  getPresence(asker: Uuid, conversation: ConversationId): Promise<Presence>;
  /** Forwards to the sockets that `peer` changed whether their presence is visible. Never stored. */
  notifyPresenceVisibility(peer: Uuid): Promise<void>;
  /** Forwards to the sockets that this person deleted a status. Never stored. */
  notifyPostDeleted(post: Uuid): Promise<void>;
  /** Highest seq for which this person may see who has read it. */
  getVisibleReadUpTo(conversation: ConversationId): Promise<number>;
  /** Page of the conversation list for API clients, newest first, listed rows only. */
  listConversations(before: number | undefined): Promise<ListPage>;
  /** Conversations this person has muted, last changed first. */
  listMutes(): Promise<ConversationId[]>;
  /** Flags of the messages of one conversation, null if the inbox does not have it. */
  listMessageFlags(conversation: ConversationId): Promise<MessageFlags | null>;
  /** Drafts changed after a change; all that are not empty if the inbox does not know it. */
  listDrafts(since: number): Promise<DraftList>;
  /** Whether this person's inbox has the conversation. Checked before the request wakes another object. */
  hasConversation(conversation: ConversationId): Promise<boolean>;
  /** Open calls of this person. */
  listCalls(): Promise<Call[]>;
  /** Recent signals in one of this person's calls after a position, undefined if the call is not open. */
  findRecentSignals(call: Uuid, after: number): Promise<CallSignals | undefined>;
  /** From the conversation of a call: whether any device has a socket, by which a call rings on it. */
  isConnected(): Promise<boolean>;
  /** From the conversation of a call: whether this device may still reconnect to it. */
  mayReconnect(device: DeviceId): Promise<boolean>;
  /** From the peer's channel in a call: forwards a signal to the sockets. Never stored. */
  deliverSignal(from: Uuid, signal: CallSignal): Promise<void>;
  /** Forwards to the sockets that another member is typing. Never stored. */
  deliverTyping(conversation: ConversationId, from: { user: Uuid; number: number }): Promise<void>;
  /** Saves a session's push subscription. Returns the sessions whose subscriptions were removed beyond the limit. */
  savePushSubscription(session: Uuid, subscription: NewPushSubscription): Promise<Uuid[]>;
  /** Removes a session's push subscription. Idempotent. */
  removePushSubscription(session: Uuid): Promise<void>;
  /** Sends a test push to the device of a session, null if it has no subscription. */
  sendTestPush(session: Uuid): Promise<PushTestResult | null>;
  /** Closes the sockets of these sessions, or of all, ends the calls they are in, and removes their subscriptions. */
  closeSessions(sessions: Uuid[] | "all"): Promise<void>;
  /**
   * Starts the purge of a deleted account. It continues by alarm until nothing is left. Idempotent. `user` equals the
   * object's name, which an instance started by an old alarm may not know.
   */
  deleteAccount(user: Uuid): Promise<void>;
}
