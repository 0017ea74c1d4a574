import { hourMs } from "./durations.ts";

/** Limits of groups and of invitations to them. */

export const groupNameMaxLength = 100;
export const groupMembersMax = 1_024;
export const groupTypingMax = 32; // members; larger groups do not relay typing
export const mentionsMax = 20; // in one message
export const everyoneMentionPauseMs = hourMs; // between two messages of a group that mention everyone
export const groupReactionHoldMs = 1_000; // time to collect members' reactions before the group is notified
export const groupReceiptHoldMs = 1_000; // time to collect members' receipts before the authors are notified
export const membershipsKeptMax = 32; // of a person in one group, whose messages stay readable after the last one
export const memberPageRows = 90; // each with its profile; a D1 query accepts 100 values

// Invitations to groups (docs/decisions/group-invitations.md)
export const groupInvitationDays = 30; // until an invitation expires
export const groupInvitationsAtOnce = 50; // by one request
export const groupInvitationsPerPairMax = 3; // of one person to another in a day, withdrawn ones included
export const groupInvitationsListedMax = 99; // to one person
export const formerMembersListedMax = 50; // whom the owner may invite again
