/** Limits of the conversation list and of the pages of a chat. */

// Pages. Opening a list or a page of a chat reads at most 50 rows, look-ups included.
export const inboxPageRows = 30;
export const messagePageRows = 40;
export const gapPageRows = 200;
export const pageMaxBytes = 128 * 1024;

// Pages and changes, per person: a device that was offline for long requests many at once
export const readBurst = 500;
export const readPerSecond = 50;

// Conversation list
export const pinnedConversationsMax = 5;
export const flagBurst = 60; // changed flags of conversations (contract/settings/conversation-flags.ts) per person
export const flagsPerSecond = 0.5;

// Cleared histories, per person: each rewrites an inbox row and recounts its unread messages
export const clearHistoryBurst = 60;
export const clearHistoriesPerSecond = 1;
export const muteBurst = 100; // mute changes per person
export const mutesPerDay = 100;
export const muteMaxSeconds = 366 * 86_400; // of a timed mute

// Listed in an inbox row
export const mentionsListedMax = 50; // unread mentions of a conversation
export const missedCallsListedMax = 99; // unread missed calls of a conversation; more are announced as messages
