/** Limits and timings of push notifications. */

export const pushEndpointMaxLength = 1_024; // characters
export const pushSubscriptionsMax = 10; // per person
export const pushPayloadMaxBytes = 3_993; // the body is then 4,096 bytes, the most that every push service accepts
export const pushLifetimeSeconds = 3 * 24 * 3_600; // how long a push service keeps a message for a phone that is off
export const pushTestLifetimeSeconds = 60;
export const pushTimeoutMs = 10_000; // of a request to a push service
export const pushConfirmMs = 5_000; // time for a device in the foreground to confirm a message before it is pushed
export const pushBackgroundWaitMs = 1_000; // time for a connected device in the background to come to the foreground
export const pushForegroundWaitMs = 30_000; // time for a person to read a message on a device in the foreground
export const pushConversationPauseMs = 5_000; // between two pushes of a conversation
export const pushReadWaitMs = 3_000; // in which what is read on one device is collected before the others are told
export const pushPauseMs = 2_000; // between two pushes of a device
export const pushSoundPauseMs = 60_000; // a notification sounds again after this time without one of its conversation
export const pushGoneRetryMs = 60_000; // a new subscription may be unknown to its push service for a moment
export const pushReactionWaitMs = 3_000; // in which reactions of a conversation are collected before its author is told
export const pushReactionPauseMs = 60_000; // between two pushes of the reactions in a conversation
export const pushReactionLifetimeSeconds = 24 * 3_600; // of a push that is not worth as much as a message
export const pushReactionsCounted = 1_024; // newest reactions that are counted: those of a whole group to one message
export const pushReactionsRead = 20; // newest reactions of which one is quoted: some may be of people who are blocked
