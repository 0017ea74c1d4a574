import { dayMs } from "./durations.ts";

/** Limits of messages: their texts, sending, and changes to sent ones. */

// Text
export const messageTextMaxLength = 8_000; // UTF-16 units, as `String.length` counts them
export const previewMaxLength = 160; // a text up to this length is complete in its inbox row

// Messages of one request, and of one device in flight
export const sendBatchMax = 50; // messages in one HTTP send
export const outboxWindow = 16; // in flight
export const multicastMax = 50; // conversations of one forward or broadcast

// Sending, per person over all conversations. More than anybody types; messages written offline are sent at this rate.
export const sendBurst = 60;
export const sendPerSecond = 1;
export const sendUnwrittenMax = 10; // messages after which the level is written
export const sendTokenLength = 2_000; // characters of a text for each further token; the longest text takes five
export const sendRetryMessages = 5; // a limited device waits for this many tokens; for one it would retry every second
// Per member in a conversation: 600 of the longest texts. Files have their own limit (fileBytesPerDay).
export const memberBytesPerDay = 5 * 1024 * 1024;
export const memberBytesUnwrittenMax = 2 * 1024;
// Message limit of a conversation. An object may use 10 GB; the rest is for leaving, deleting and blocking.
export const conversationMaxBytes = 8 * 1024 ** 3;

// Typing: repeated at this interval, and over after this time without a repetition
export const typingRepeatMs = 3_000;
export const typingLastsMs = 5_000;

// Edits of own messages, by server time after sending
export const editWindowMs = dayMs;
export const earlierTextLifetimeMs = 30 * dayMs; // how long the texts before an edit are kept
export const editNumberMax = 1_000_000;

// Client ids of messages deleted before arrival: how long they are kept, and how many per member and conversation
export const pendingDeletionLifetimeMs = 30 * dayMs;
export const pendingDeletionsMax = 100;
// Deletions for everyone, per person: each notifies all members
export const deletionBurst = 60;
export const deletionsPerSecond = 1;

// Reactions, per person: each notifies all members
export const reactionBurst = 60;
export const reactionsPerSecond = 1;
export const reactionKindsMax = 20; // different emoji on one message
export const reactionEmojiMaxLength = 16; // UTF-16 units; the longest emoji has 15
export const reactorPageRows = 50;

// Pinned messages: each pin appends a system message and notifies all members
export const pinnedMessagesMax = 3; // in one conversation
export const pinBurst = 20; // per person
export const pinsPerSecond = 0.2;

// Flags of messages (contract/settings/message-flags.ts), per person
export const starredMessagesMax = 1_000;
export const messagesDeletedForSelfMax = 10_000;
export const messageFlagBurst = 60;
export const messageFlagsPerSecond = 1;

// Drafts shared by a person's devices, per person: at most so many rows and pushes a day
export const draftBurst = 120;
export const draftsPerDay = 2_000;
export const draftsUnwrittenMax = 20; // drafts after which the level is written
export const draftAgeMaxMs = 366 * dayMs; // how far back a device may date a draft that it sends late
