import type { SecurityNotice } from "#contract/auth/security.ts";
import type { Call, CallCommand, CallSignals, DeviceId } from "#contract/calls/call.ts";
import type { Body, Message, ReadState, StoredBody } from "#contract/conversations.ts";
import type { Group, GroupCard, GroupRole, Receipts } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { Presence, VersionedSettings } from "#contract/settings.ts";
import type { Command, CommandResults, ListPage, Refusal, SearchResult } from "#contract/wire/commands.ts";
import type { CallRecord } from "./shared/call-record.ts";

/**
 * What the objects say to each other and what the Worker may ask of them. The Conversation is the only
 * writer of its messages and the judge of who may; the UserChannel holds a person's sockets and inbox.
 */

/** What a member's channel is told of a conversation. Idempotent: told twice, it changes nothing. */
export type ConversationNotice = {
  conversation: ConversationId;
  epoch: string;
  head: number;
  at: number;
  /** The time of the message before the newest; null where there is none. */
  prior: number | null;
  sender: number;
  preview: StoredBody | null;
  whole: boolean;
  open: boolean;
  /** Of a group, for somebody who is not its member any more: this, `turn`, and nothing of the group itself. */
  gone: boolean;
  /** How often `open` or `gone` has changed for this member: of two notices the one with more turns knows better. */
  membershipVersion: number;
  /** Null for a private conversation. Of two the one with the later roster knows better. */
  group: GroupCard | null;
  hidden: number;
  /** How often messages that had been stored were changed. */
  revision: number;
  /** Those changed after `since`, as they are now; absent when there are none or too many to carry. */
  revised?: { since: number; messages: Message[] };
  ownReadState: ReadState;
  peerReadState: ReadState;
  /** The call under way, or the last one; null when this member may not know of it, and of none before it that is open. */
  call: CallRecord | null;
  /** One that rings, of which this member is not to know: their channel says whether they are busy, and nothing besides. */
  hiddenCall?: CallRecord;
  /** How often there was a change of it: of two notices the one with more knows better. */
  callVersion: number;
  /**
   * New messages in ascending order ending at `head`; empty when only marks or `open` changed, or when there
   * are too many to carry. Those that have a `cid` are the member's own.
   */
  messages: Message[];
  /** Exact count of others' messages still to be read up to `head`, when the Conversation had reason to count. */
  unread?: number;
};

/** What a member's channel has of a conversation: what it need not be told again. */
export type InboxPosition = { epoch: string; head: number; revision: number };

/**
 * A message as its sender's channel found it: `refusal` counts only when it is not stored yet. `unsigned`: it has
 * another name than the sender's device gave with it, or none.
 */
export type CheckedMessage = { cid: Uuid; body: Body; refusal?: Refusal; isAuthorCorrected?: boolean };
export type RefusedMessage = Refusal & { cid: Uuid };

/** Where a member stands in the log as it was at `head`. `unread` is there whenever it was counted. */
export type MemberReadState = {
  epoch: string;
  head: number;
  revision: number;
  ownReadState: ReadState;
  hidden: number;
  unread?: number;
};

/**
 * What became of messages that were sent. `unused` are those that stand in the log without the file they now name:
 * deleted since, or another body under the same client id.
 */
export type SendOutcome = CommandResults["send"] & {
  refused: RefusedMessage[];
  unused: Uuid[];
  notice: ConversationNotice;
};

/** Somebody who is to be added. `quiet`: they block the one who adds them, who must not see that, and are told nothing. */
export type AddedMember = { user: Uuid; isHidden: boolean };

/** What a member does to a group. Who may is the conversation's to judge (`contract/groups.ts`). */
export type GroupCommand =
  | { type: "add"; people: AddedMember[] }
  | { type: "remove"; user: Uuid }
  /** An owner names who follows; without a name it is whoever has been there longest. The last one ends the group. */
  | { type: "leave"; successor?: Uuid }
  | { type: "rename"; name: string }
  | { type: "picture"; key: string | null }
  | { type: "handOver"; user: Uuid }
  | { type: "end" };
/** `replaced` is the picture that the group showed before and nobody shows any more. */
export type GroupChangeResult = { roster: number; count: number; replaced: string | null };

/** What is left to do where somebody's account is gone: the picture that nobody shows any more. */
export type UserRemoval = Pick<GroupChangeResult, "replaced">;

/** A member as the conversation knows them. */
type MemberEntry = { number: number; user: Uuid; role: GroupRole; since: number; left: boolean };
export type MemberEntries = { roster: number; count: number; members: MemberEntry[]; after: number | null };

/** How a call stands, how often there was a change, and whether the device that has the side of whoever asks seems gone. */
export type CallSnapshot = { call: CallRecord; version: number; isAbandoned: boolean };
/** By which device a side says that it is there, and for how long it has heard nothing of the other one. */
export type CallHeartbeat = { device?: DeviceId | undefined; peerSilentMs?: number | undefined };
export type CallSignal = {
  call: Uuid;
  conversation: ConversationId;
  from: DeviceId;
  to: DeviceId | null;
  signal: string;
};

export interface UserChannelRpc {
  /** Carries out a command for this person, from whichever carrier, by a session. `user` is the object's own name. */
  execute<T extends Command["type"]>(
    user: Uuid,
    command: Extract<Command, { type: T }>,
    session?: Uuid,
  ): Promise<CommandResults[T] | Refusal>;
  /**
   * From a Conversation: pushes to the sockets, then writes the inbox row. "written" confirms; "held" says that the row
   * will be written with what else comes soon, unless this instance dies first.
   */
  notify(user: Uuid, notice: ConversationNotice): Promise<"written" | "held">;
  /** From the Worker: people whose standing to this person changed. Returning confirms. */
  updateRelations(user: Uuid, relations: Relation[]): Promise<void>;
  /** From the Worker: how this person wants things. Returning confirms. */
  updateSettings(user: Uuid, settings: VersionedSettings): Promise<void>;
  /** From the Worker: something became of this person's account that their devices are to know. Returning confirms. */
  addSecurityNotice(user: Uuid, notice: SecurityNotice): Promise<void>;
  /** From the other one's channel, in a private conversation: whether this person is here, as far as that may be told. */
  getPresence(user: Uuid, asker: Uuid, conversation: ConversationId): Promise<Presence>;
  /** Somebody this person asked about lets themselves be seen now, or no more: passed on to the sockets, never stored. */
  notifyPresenceVisibility(user: Uuid, peer: Uuid): Promise<void>;
  /** This person deleted their status: passed on to the sockets, never stored. */
  notifyPostDeleted(user: Uuid, post: Uuid): Promise<void>;
  /** Up to which place of a conversation this person may see who has read what. */
  getVisibleReadUpTo(user: Uuid, conversation: ConversationId): Promise<number>;
  /** A page of the list as an API client reads it, newest first, rows with something to see only. */
  listConversations(user: Uuid, before: number | undefined): Promise<ListPage>;
  /** The conversations this person has muted, those that changed last first. */
  listMutes(user: Uuid): Promise<ConversationId[]>;
  /** Whether this person ever heard of the conversation: before any other object is woken on their word. */
  hasConversation(user: Uuid, conversation: ConversationId): Promise<boolean>;
  /** The calls under way of this person. */
  listCalls(user: Uuid): Promise<Call[]>;
  /** What was told inside a call of theirs a moment ago, after that place; undefined where none is open. */
  findRecentSignals(user: Uuid, call: Uuid, after: number): Promise<CallSignals | undefined>;
  /** From the conversation of a call: whether that device of theirs may be on its way back to it. */
  mayReconnect(user: Uuid, device: DeviceId): Promise<boolean>;
  /** From the other one's channel, in a call between the two: passed on to the sockets, never stored. */
  deliverSignal(user: Uuid, from: Uuid, signal: CallSignal): Promise<void>;
  /** Another member, of this number, is typing: passed on to the sockets, never stored. */
  deliverTyping(user: Uuid, conversation: ConversationId, from: { user: Uuid; number: number }): Promise<void>;
  /** These sessions ended, or all of them: so do their sockets, and the calls they are in. */
  closeSessions(user: Uuid, sessions: Uuid[] | "all"): Promise<void>;
  /** The account is gone: sees to whatever is left of it, until nothing is. Idempotent. */
  deleteAccount(user: Uuid): Promise<void>;
}

export interface ConversationRpc {
  /** The pair is connected: both may write. A connection that was once closed is never opened again. */
  openConnection(id: ConversationId, connection: Uuid): Promise<void>;
  /** The connection ended: the history stays, nobody writes. */
  closeConnection(id: ConversationId, connection: Uuid): Promise<void>;
  sendMessages(
    id: ConversationId,
    user: Uuid,
    messages: readonly CheckedMessage[],
    position: InboxPosition,
  ): Promise<SendOutcome | Refusal>;
  /**
   * Moves a member's marks on. Marks that change nothing are a question for the exact standing. `isShown`: the others
   * may see what this member reads.
   */
  updateReceipts(
    id: ConversationId,
    user: Uuid,
    readState: ReadState,
    isVisibleToPeers: boolean,
  ): Promise<MemberReadState | Refusal>;
  clearHistory(id: ConversationId, user: Uuid, upTo: number): Promise<MemberReadState | Refusal>;
  /** Deletes the caller's own message for everybody, and releases the file it named. */
  deleteForEveryone(id: ConversationId, user: Uuid, seq: number): Promise<CommandResults["retract"] | Refusal>;
  /** Deletes the caller's own message by its client id, and where it has not come, keeps it from being taken in. */
  deletePending(id: ConversationId, user: Uuid, cid: Uuid): Promise<CommandResults["withdraw"] | Refusal>;
  listRevisions(
    id: ConversationId,
    user: Uuid,
    query: Extract<Command, { type: "revised" }>,
  ): Promise<CommandResults["revised"] | Refusal>;
  /** Makes a group, its owner the first member. The same call again changes nothing; the id of another group is refused. */
  createGroup(
    id: ConversationId,
    owner: Uuid,
    name: string,
    people: AddedMember[],
  ): Promise<GroupChangeResult | Refusal>;
  /**
   * Carries out what a member does to the group, with the line that tells of it, or nothing of it. What is so already is
   * answered as done, also to somebody who has left, or ended it, and asks for that again.
   */
  runGroupCommand(id: ConversationId, user: Uuid, deed: GroupCommand): Promise<GroupChangeResult | Refusal>;
  /** The group as this member reads it. */
  getGroup(id: ConversationId, user: Uuid): Promise<Group | Refusal>;
  /** Members by number, or those after a number that changed after a roster. */
  listMembers(
    id: ConversationId,
    user: Uuid,
    query: { numbers: number[] } | { since: number; after: number },
  ): Promise<MemberEntries | Refusal>;
  /** How far the others are with the caller's own message; who read it, only when the caller may see that (`seesRead`). */
  listReceipts(id: ConversationId, user: Uuid, seq: number, seesReads: boolean): Promise<Receipts | Refusal>;
  /** Passes on to the other members of a small group that this one is typing. */
  relayTyping(id: ConversationId, user: Uuid): Promise<void>;
  /** The member does, or no longer does, let the other through. Private conversations only; idempotent. */
  setBlocked(id: ConversationId, user: Uuid, isBlocked: boolean): Promise<void>;
  /** Carries out what a member does with the call of a private conversation; the answer is how it stands then. */
  runCallCommand(id: ConversationId, user: Uuid, deed: CallCommand, session?: Uuid): Promise<CallSnapshot | Refusal>;
  /** The call that rings for this member, whether they may know of it or not, finds them busy. */
  refuseCallAsBusy(id: ConversationId, user: Uuid, call: Uuid): Promise<CallSnapshot | Refusal>;
  /** The member calls no more, if nobody answered yet. */
  cancelCall(id: ConversationId, user: Uuid, call: Uuid): Promise<CallSnapshot | Refusal>;
  /** The member's side of the call is left, if one of these sessions has it. */
  endCallOfSessions(id: ConversationId, user: Uuid, ended: Uuid[] | "all"): Promise<CallSnapshot | Refusal>;
  /** A call, the one under way or the last one, as this member may know of it. */
  getCallState(id: ConversationId, user: Uuid, call: Uuid): Promise<CallSnapshot | Refusal>;
  /** A side of the call is still there. False when the call is not, or another device has that side of it. */
  recordCallHeartbeat(id: ConversationId, user: Uuid, call: Uuid, heartbeat: CallHeartbeat): Promise<boolean>;
  /** The member's account is gone: they leave a group, or end what two say to each other; what they said stays. Idempotent. */
  removeDeletedUser(id: ConversationId, user: Uuid): Promise<UserRemoval>;
  /** The account of somebody whose words were passed on to it is gone: their name is taken out. Idempotent. */
  anonymizeForwards(id: ConversationId, author: Uuid): Promise<void>;
  /** Whether a message that this person may see now names the file. */
  canReadFile(id: ConversationId, user: Uuid, file: Uuid): Promise<boolean>;
  /** A message as this person may pass it on, and who wrote it. */
  findOriginal(id: ConversationId, user: Uuid, seq: number): Promise<{ body: StoredBody; author: Uuid } | Refusal>;
  listMessages(
    id: ConversationId,
    user: Uuid,
    query: Extract<Command, { type: "page" }>,
  ): Promise<CommandResults["page"] | Refusal>;
  /** A slice of a search, as far as the answer has room for what is found; `before` is where the next one begins. */
  searchMessages(
    id: ConversationId,
    user: Uuid,
    query: Extract<Command, { type: "search" }>,
    budget: SearchBudget,
  ): Promise<SearchSlice | Refusal>;
}

/** How much of an answer to a search is still free. */
export type SearchBudget = { messages: number; bytes: number };

/** What a slice of the log has: the bytes of these messages, and whether they left no room for another one. */
export type SearchSlice = SearchResult & { bytes: number; isFull: boolean };
