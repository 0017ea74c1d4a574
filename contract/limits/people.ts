/** Limits of profiles, contacts, presence and accounts. */

export const displayNameMaxLength = 50;
export const exceptionsMax = 50; // people excepted from one setting

// Handles
export const handleMinLength = 5;
export const handleMaxLength = 30;
export const handleChangesMax = 3; // at once; one more after each handleChangeDays
export const handleChangeDays = 10;
export const formerHandleDays = 30; // for which nobody else can choose a handle that was changed, removed or deleted

// Rows of pages
export const contactPageRows = 20; // each with its profile
export const requestPageRows = 20;
export const blockPageRows = 20;

// Connection requests. Accepted ones do not count. How many a person sends: contract/settings/trust-tiers.ts
export const pendingRequestsMax = 20; // pending, to one person
export const requestsReceivedPerDay = 10; // to one person and not accepted
// Wait after the first, second and any further refusal by the same person
export const askAgainDays = [1, 7, 30] as const;

// Directory look-ups whether two people are connected, for requests to unknown conversations
export const connectionCheckBurst = 10;
export const connectionChecksPerSecond = 0.1;

// Context of a received request
export const commonNamesMax = 3; // of common contacts, and of common groups
export const comparedContactsMax = 1_000; // contacts of a sender that are compared with those of the recipient
export const comparedGroupsMax = 20; // groups of the recipient, last active first, that are asked for the senders

// Presence
export const presencePollMs = 30_000; // poll interval of an open chat
export const presenceStaleMs = 60_000; // a device not heard of for this long is offline
export const presenceBurst = 60; // queries per person; each wakes another channel
export const presencePerSecond = 1;
export const presenceWatchersMax = 16; // people notified when one person shows or hides their presence

// Account deletion: requests in flight when it began have arrived after this time and are purged then
export const deletionSettleMs = 120_000;
