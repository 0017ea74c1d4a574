import type { Group, GroupRole } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import type { Refusal } from "#contract/wire/commands.ts";

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

/** Methods of a Conversation that only groups answer. */
export interface GroupRpc {
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
  /** Deletes the history that a former member of a group kept. They cannot read it any more. */
  forgetHistory(user: Uuid): Promise<{ hidden: number } | Refusal>;
  /** Relays to the other members of a small group, except some, that this member is typing. */
  relayTyping(user: Uuid, hiddenFrom: readonly Uuid[]): Promise<void>;
}
