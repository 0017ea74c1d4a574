import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { Call, CallSignals, DeviceId } from "#contract/calls/call.ts";
import type { CallCommand } from "#contract/calls/open-call.ts";
import type { Body, Message, ReadState, StoredBody } from "#contract/conversations.ts";
import type { Group, GroupCard, GroupRole, Receipts } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { PushSubscriptionBody, PushTestResult } from "#contract/push.ts";
import type { DraftList } from "#contract/settings/drafts.ts";
import type { MessageFlags } from "#contract/settings/message-flags.ts";
import type { Presence, VersionedSettings } from "#contract/settings/settings.ts";
import type { Command, CommandResults, ListPage, ReactorPage, Refusal, SearchResult } from "#contract/wire/commands.ts";
import type { GlobalSearch, GlobalSearchResult } from "#contract/wire/global-search.ts";
import type { MessageInfo } from "#contract/wire/message-info.ts";
import type { ChangedReactions } from "#contract/wire/reactions.ts";
import type { CallRecord } from "./shared/call-record.ts";

/**
 * RPC interfaces between the objects and from the Worker to them. The Conversation is the only writer of its messages
 * and decides who may do what. The UserChannel holds a person's sockets and inbox. Callers address an object by name,
 * which is the conversation's or the person's id, so no method repeats it.
 */

/** Exact unread count of a member, and in a group the newest messages among them that mention the member. */
export type UnreadState = { unread: number; mentions?: number[] };

/** State of a conversation as one member may see it, sent to their UserChannel. Idempotent. */
export type ConversationNotice = {
  conversation: ConversationId;
  epoch: string;
  head: number;
  at: number;
  /** Time of the second-newest message, null if there is none. */
  prior: number | null;
  sender: number;
  /** Author of the newest message in a group, for notifications. Absent if there is none. */
  author?: Uuid;
  preview: StoredBody | null;
  whole: boolean;
  open: boolean;
  /**
   * True when the person is no longer a member of the group and keeps no history of it. All other fields but
   * `membershipVersion` are then empty.
   */
  gone: boolean;
  /** Number of changes of `open` or `gone` for this member. The notice with the higher number wins. */
  membershipVersion: number;
  /** Group data, null in a private conversation. The card with the higher `roster` wins. */
  group: GroupCard | null;
  hidden: number;
  /** Number of changes to stored messages so far. */
  revision: number;
  /** Pinned messages that the member sees, absent if there never were any. The list with the higher version wins. */
  pinned?: { version: number; seqs: number[] };
  /**
   * Current state of the messages changed after `since`. Absent if there are none or too many to push. `reactions` replaces
   * the messages if nothing else of them has changed.
   */
  revised?: {
    since: number;
    messages: Message[];
    reactions?: ChangedReactions[];
    /** Whether the newest change of one of the member's own messages is a reaction. */
    hasReactionsToOwn?: true;
  };
  ownReadState: ReadState;
  peerReadState: ReadState;
  /** The open call, otherwise the last one. Null if the member may not know of it. */
  call: CallRecord | null;
  /**
   * A ringing call that this member must not know of, because they block the caller. Their channel uses it only to
   * answer "busy".
   */
  hiddenCall?: CallRecord;
  /** Number of changes of the call. The notice with the higher number wins. */
  callVersion: number;
  /**
   * New messages in ascending order ending at `head`. Empty if only read state or `open` changed, or if there are too
   * many to push. Messages with a `cid` are the member's own.
   */
  messages: Message[];
} & Partial<UnreadState>; // up to `head`, present only when the Conversation counted

/** Part of a conversation that a member's channel already has and need not receive again. */
export type InboxPosition = { epoch: string; head: number; revision: number };

/**
 * A message after the checks of the sender's channel. `refusal` applies only if the message is not stored yet.
 * `isCorrected`: the original author or the reply differs from what the device sent.
 */
export type CheckedMessage = { cid: Uuid; body: Body; refusal?: Refusal; isCorrected?: boolean };
export type RefusedMessage = Refusal & { cid: Uuid };

/**
 * Reactions of others to a member's own messages: the revision of the newest one (0 if there is none), the numbers of people
 * and of messages, and the newest ones with the preview of their message.
 */
export type ReactionNews = {
  revision: number;
  people: number;
  messages: number;
  newest: { seq: number; user: Uuid; emoji: string; preview: StoredBody; whole: boolean }[];
};

/** A member's read state, valid for the log at `head`. `unread` is present only when it was counted. */
export type MemberReadState = {
  epoch: string;
  head: number;
  revision: number;
  ownReadState: ReadState;
  hidden: number;
} & Partial<UnreadState>;

/**
 * Outcome of sending messages. `unused` lists client ids whose stored message does not reference the file sent now: the
 * message was deleted since, or has another body.
 */
export type SendOutcome = CommandResults["send"] & {
  refused: RefusedMessage[];
  cidsWithoutFile: Uuid[];
  notice: ConversationNotice;
};

/**
 * A person to add. `isHidden`: they block the member who adds them. They appear as a member to the others and are not
 * notified.
 */
export type AddedMember = { user: Uuid; isHidden: boolean };

/** Change of a group by a member. The Conversation checks permissions (`contract/groups.ts`). */
export type GroupCommand =
  /** `invited`: people who may not be added and get an invitation. */
  | { type: "add"; people: AddedMember[]; invited?: Uuid[] }
  /** Withdraws an invitation. */
  | { type: "uninvite"; user: Uuid }
  | { type: "remove"; user: Uuid }
  /**
   * A leaving owner may name a successor; the default is the member with the longest membership. The last member to
   * leave ends the group.
   */
  | { type: "leave"; successor?: Uuid }
  | { type: "rename"; name: string }
  | { type: "picture"; key: string | null }
  | { type: "handOver"; user: Uuid }
  | { type: "end" };
/** `replaced` is the key of the former group picture, which is no longer referenced. */
export type GroupChangeResult = { roster: number; count: number; replaced: string | null };

/** Result of removing a deleted account: the group picture that is no longer referenced. */
export type UserRemoval = Pick<GroupChangeResult, "replaced">;

/** People whom a group's owner wants to add: present members, those to invite, those invited before. */
export type NewMemberCheck = {
  members: Uuid[];
  toInvite: Uuid[];
  invited: { user: Uuid; at: number }[];
  /** Invitations of other people that have not expired. */
  otherInvitations: number;
};

/** A group for a person with an invitation. `contacts`: those of the named people who are members. */
export type InvitingGroup = { owner: Uuid; name: string; count: number; contacts: Uuid[] };

/** A member as stored by the conversation. */
type MemberEntry = { number: number; user: Uuid; role: GroupRole; since: number; left: boolean };
export type MemberEntries = { roster: number; count: number; members: MemberEntry[]; after: number | null };

/** State of a call and its version. `isStale`: the device on the asking member's side seems gone. */
export type CallSnapshot = { call: CallRecord; version: number; isStale: boolean };
/** Device that sends a heartbeat, and for how many milliseconds it has received nothing from the peer. */
export type CallHeartbeat = { device?: DeviceId | undefined; peerSilentMs?: number | undefined };
export type CallSignal = {
  call: Uuid;
  conversation: ConversationId;
  from: DeviceId;
  to: DeviceId | null;
  signal: string;
};

/** Push subscription with the public address under which its device subscribed. */
export type NewPushSubscription = PushSubscriptionBody & { origin: string };

/** Invitation to a group as a notification announces it: when it was sent, and the name of its sender. */
export type InvitationNotice = { id: Uuid; at: number; sender: string };

/** How a channel took a notice (`UserChannelRpc.notify`). */
export type NoticeOutcome = "written" | "held" | "pushing";

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
  /** Saves a session's push subscription. Returns the sessions whose subscriptions exceed the limit and were removed. */
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

export interface ConversationRpc {
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
  /** Deletes the history that a former member of a group kept. They cannot read it any more. */
  forgetHistory(user: Uuid): Promise<{ hidden: number } | Refusal>;
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
  /** Creates a group with the caller as its owner. Idempotent; the id of another owner's group is refused. */
  createGroup(owner: Uuid, name: string, people: AddedMember[]): Promise<GroupChangeResult | Refusal>;
  /**
   * Applies a member's command to the group together with its system message. A command whose effect is already there
   * succeeds, also for a former member who repeats "leave" or "end".
   */
  runGroupCommand(user: Uuid, command: GroupCommand): Promise<GroupChangeResult | Refusal>;
  /** For who may add members: which of these people are members or can only be invited. */
  checkNewMembers(user: Uuid, people: readonly Uuid[]): Promise<NewMemberCheck | Refusal>;
  /** For who may add members: invitations that were not accepted, and former members, the last one first. */
  listCandidates(user: Uuid): Promise<{ invited: { user: Uuid; at: number }[]; former: Uuid[] } | Refusal>;
  /** The group for a person who has an open invitation. */
  findInvitation(user: Uuid, contacts: readonly Uuid[]): Promise<InvitingGroup | Refusal>;
  /** Answers an invitation. Accepting again succeeds while the person is a member. */
  answerInvitation(user: Uuid, isAccepted: boolean): Promise<GroupChangeResult | Refusal>;
  /** The group as this member sees it. */
  getGroup(user: Uuid): Promise<Group | Refusal>;
  /** Members by number, or a page of members that changed after a members version. */
  listMembers(
    user: Uuid,
    query: { numbers: number[] } | { since: number; after: number },
  ): Promise<MemberEntries | Refusal>;
  /** Members of the group among these people, as this member sees the group. Empty for anybody but a member. */
  findMembers(user: Uuid, people: readonly Uuid[]): Promise<Uuid[]>;
  /**
   * Delivery state of the caller's own message per member. Readers are listed only if the caller may see them
   * (`seesReads`).
   */
  listReceipts(user: Uuid, seq: number, seesReads: boolean): Promise<Receipts | Refusal>;
  /** Times at which the caller's own message in a private conversation was delivered and, if `seesReads`, read. */
  getMessageInfo(user: Uuid, seq: number, seesReads: boolean): Promise<MessageInfo | Refusal>;
  /** Relays to the other members of a small group that this member is typing. */
  relayTyping(user: Uuid): Promise<void>;
  /** Sets whether the member blocks the peer. Private conversations only; idempotent. */
  setBlocked(user: Uuid, isBlocked: boolean): Promise<void>;
  /** Applies a member's command to the call of a private conversation and returns the new state. */
  runCallCommand(user: Uuid, command: CallCommand, session?: Uuid): Promise<CallSnapshot | Refusal>;
  /** Ends a call that rings for this member with reason "busy", also one hidden from them. */
  refuseCallAsBusy(user: Uuid, call: Uuid): Promise<CallSnapshot | Refusal>;
  /** Ends the member's outgoing call if nobody answered yet. */
  cancelCall(user: Uuid, call: Uuid): Promise<CallSnapshot | Refusal>;
  /** Ends the member's side of the call if one of these sessions holds it. */
  endCallOfSessions(user: Uuid, ended: Uuid[] | "all"): Promise<CallSnapshot | Refusal>;
  /** State of the open or last call as this member may see it. `isRinging`: the call rings on a device of theirs. */
  getCallState(user: Uuid, call: Uuid, isRinging?: boolean): Promise<CallSnapshot | Refusal>;
  /** Records that one side of the call is alive. False if the call is not open or another device holds that side. */
  recordCallHeartbeat(user: Uuid, call: Uuid, heartbeat: CallHeartbeat): Promise<boolean>;
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
   * Searches one slice of the log within the budget. `before` is where the next slice begins. `sender`: finds messages of
   * this person only.
   */
  searchMessages(
    user: Uuid,
    query: Extract<Command, { type: "search" }>,
    budget: SearchBudget,
    sender?: Uuid,
  ): Promise<SearchSlice | Refusal>;
}

/** Space left in the response of a search, and rows of messages that it may still read. */
export type SearchBudget = { messages: number; bytes: number; rows: number };

/**
 * Result of one search slice: size of the found messages and rows of messages read. `isLast`: the request ends with it,
 * because its response is full or it waited for the index.
 */
export type SearchSlice = SearchResult & { bytes: number; rows: number; isLast: boolean };
