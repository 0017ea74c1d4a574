/** Limits and timings shared by client and server, with the unit in the name. */

// Text
export const messageTextMaxLength = 8_000; // UTF-16 units, as `String.length` counts them
export const displayNameMaxLength = 50;
export const groupNameMaxLength = 100;
export const searchQueryMaxLength = 100;

// Frames and commands
export const frameMaxBytes = 64 * 1024;
export const joinedFramesMax = 32; // frames of a device in one batch
export const bodyMaxBytes = 256 * 1024; // any JSON request body
export const sendBatchMax = 50; // messages in one HTTP send
export const outboxWindow = 16; // messages of one device in flight

// Pages. Opening a list or a page of a chat reads at most 50 rows, look-ups included.
export const inboxPageRows = 30;
export const messagePageRows = 40;
export const gapPageRows = 200;
export const contactPageRows = 20; // each with its profile
export const requestPageRows = 20;
export const blockPageRows = 20;
export const pageMaxBytes = 128 * 1024;
export const previewMaxLength = 160; // a text up to this length is complete in its inbox row
// Search: one slice of a conversation at a time, so that other requests are served between two slices
export const searchSliceRows = 1_000; // messages
export const searchSliceLength = 50_000; // UTF-16 units of text, if reached before searchSliceRows
export const searchSlicesMax = 20; // slices of one search call before it returns a cursor
export const searchRowsMax = 1_600; // rows of messages that one search call reads in a conversation
export const searchBlockMessages = 1_000; // messages that are indexed together (docs/decisions/search.md)
export const indexedSlicesPerAlarm = 10; // other requests run between two of them
export const indexWaitMs = 500; // how long a search waits for the index that is being built
export const searchResultsMax = 40;
// Search in several conversations by one request
export const searchedConversationsMax = 10;
export const conversationResultsMax = 5; // results of one conversation in a page; a search in its chat finds the others

// Flow control of one socket: unconfirmed data
export const creditMessages = 400;
export const creditBytes = 256 * 1024;
export const pageCreditMessages = 400; // the same for requested pages, whose bytes have a credit like those of pushes
export const creditReportMessages = 200; // a device confirms at least this often
export const behindMaxMs = 60_000; // a socket that stays behind longer is closed

// Conversation list
export const pinnedConversationsMax = 5;
export const flagBurst = 60; // changed flags of conversations (contract/settings/conversation-flags.ts) per person
export const flagsPerSecond = 0.5;

// Flags of messages (contract/settings/message-flags.ts), per person
export const starredMessagesMax = 1_000;
export const messagesDeletedForSelfMax = 10_000;
export const messageFlagBurst = 60;
export const messageFlagsPerSecond = 1;

// Multicast: forwarding and broadcasting
export const multicastMax = 50;

// Groups
export const groupMembersMax = 1_024;
export const groupTypingMax = 32; // members; larger groups do not relay typing
export const mentionsMax = 20; // in one message
export const mentionsListedMax = 50; // unread mentions of a conversation that an inbox row lists
export const missedCallsListedMax = 99; // the same for unread missed calls; more are announced as messages
export const everyoneMentionPauseMs = 3_600_000; // between two messages of a group that mention everyone
export const groupReactionHoldMs = 1_000; // time to collect members' reactions before the group is notified
export const groupReceiptHoldMs = 1_000; // time to collect members' receipts before the authors are notified
export const membershipsKeptMax = 32; // of a person in one group, whose messages stay readable after the last one
export const memberPageRows = 90; // each with its profile; a D1 query accepts 100 values

// Typing: repeated at this interval, and over after this time without a repetition
export const typingRepeatMs = 3_000;
export const typingLastsMs = 5_000;

// Sockets
export const socketsPerUserMax = 64;
export const pingVisibleMs = 25_000;
export const pingHiddenMs = 50_000;
export const pongTimeoutMs = 10_000;
export const probeAfterActivityMs = 3_000;
export const malformedFramesMax = 5; // within malformedWindowMs before the socket is closed
export const malformedWindowMs = 10_000;

export const helloTimeoutMs = 30_000; // a socket without a hello by then is closed; a device gives up after 20 s

// Frames and commands in tokens (costs: worker/objects/user-channel/frames/frame-costs.ts), per socket, and per person
// over all sockets and HTTP. A device that was offline for long and catches up with 500 conversations uses about 1,000.
export const socketTokensBurst = 1_000;
export const socketTokensPerSecond = 50;
export const userTokensBurst = 1_200;
export const userTokensPerSecond = 100;
export const frameTokenBytes = 4 * 1024; // bytes of a message for each further token
// Messages refused before decoding: each costs a token, and one more for every `frameTokenBytes`. A socket without
// tokens is closed; the close reason says how long to wait. A person whose devices keep sending on closed sockets loses
// all sockets and opens none for a while, since the platform cannot stop reading a single socket.
export const refusedMessagesBurst = 1_000;
export const refusedMessagesPerSecond = 10;
export const closedMessagesMax = 500; // messages on closed sockets; as many may be in flight when the close arrives
export const floodPauseMs = 30_000;
export const sessionCheckMs = 10 * 60_000; // after opening a socket, and between two session checks of it
export const commandsAtOnce = 8; // running commands of one socket; others queue and are dropped with their socket

// Delivery
export const groupCommitMs = 4;
export const fanOutAtOnce = 6; // the platform's limit of outgoing connections per object
export const fanOutAlarmMs = 3_000;
export const fanOutRetryMaxMs = 30_000;
export const retryBaseMs = 500;
export const retryMaxMs = 30_000;
export const activeRetryMaxMs = 4_000; // while the page is in use and no network or server responds
export const receiptCoalesceMs = 300;
// receipts are pushed at once and written with the next change or after this time; < fanOutAlarmMs
export const receiptHoldMs = 2_000;
export const restoreWindowMs = 30 * 24 * 3_600_000; // how far back the platform can restore an object
export const sendStallMs = 10_000; // how long later messages wait for one that must be sent again

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
// Client ids of messages deleted before arrival: how long they are kept, and how many per member and conversation
export const pendingDeletionLifetimeMs = 30 * 24 * 3_600_000;
export const pendingDeletionsMax = 100;
// Pages and changes, per person: a device that was offline for long requests many at once
export const readBurst = 500;
export const readPerSecond = 50;
// Search slices, per person: five whole searches at once, then one per second
export const searchSliceBurst = 5 * searchSlicesMax;
export const searchSlicesPerSecond = 20;
// Directory look-ups whether two people are connected, for requests to unknown conversations
export const connectionCheckBurst = 5;
export const connectionChecksPerSecond = 0.1;
// Edits of own messages, by server time after sending
export const editWindowMs = 24 * 3_600_000;
export const earlierTextLifetimeMs = 30 * 24 * 3_600_000; // how long the texts before an edit are kept
export const editNumberMax = 1_000_000;
// Drafts shared by a person's devices, per person: at most so many rows and pushes a day
export const draftBurst = 120;
export const draftsPerDay = 2_000;
export const draftsUnwrittenMax = 20; // drafts after which the level is written
export const draftAgeMaxMs = 366 * 24 * 3_600_000; // how far back a device may date a draft that it sends late
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
// Cleared histories, per person: each rewrites an inbox row and recounts its unread messages
export const clearHistoryBurst = 60;
export const clearHistoriesPerSecond = 1;
export const muteBurst = 100; // mute changes per person
export const mutesPerDay = 100;
export const muteMaxSeconds = 366 * 86_400; // of a timed mute

// Sessions
export const accessTokenSeconds = 600;
export const refreshGraceSeconds = 10;
export const sessionIdleDays = 30;
export const sessionAbsoluteDays = 90;
export const sessionsPerUserMax = 10;
// A token this close to its expiry is renewed before use. This covers an attempt without a response (30 s), the waits
// between all attempts (12.6 s) and a late response on a slow network (30 s), with some time left for the request
// itself. A larger margin would only renew more often: each token is used for eight and a half of its ten minutes.
export const refreshMarginSeconds = 90;
export const knownDeviceDays = 400; // the maximum cookie lifetime in browsers
export const knownDevicePeopleMax = 5; // last users who signed in on a device, for whom it is known

// Second factor and reauthentication
export const pendingSecondFactorMinutes = 10; // time for a session to present its second factor
export const stepUpSeconds = 300; // age up to which a factor allows changing security settings
export const totpDigits = 6;
export const totpStepSeconds = 30;
export const totpWindowSteps = 1; // codes of the previous and next step are accepted too
export const totpSecretBytes = 20;
export const factorsMax = 5; // TOTP factors per person
export const factorNameMaxLength = 50;
export const recoveryCodesCount = 10;
export const passkeysMax = 20;
export const ceremonySeconds = 300; // lifetime of a challenge
export const factorResetHours = 72; // delay before lost factors are reset
// Pause before a reset may be requested again after the first, second and any further cancellation
export const factorResetPauseHours = [1, 24, 168] as const;
export const factorResetPausesForgottenDays = 30; // after this time a cancellation counts as the first again
export const securityNoticesMax = 20; // newest notices kept per person

// Verification of numbers (docs/decisions/number-verification.md)
export const numberCodeDigits = 6;
export const numberCodeAttempts = 5; // of one code
export const numberProofMinutes = 10;
export const numberProofsPerDay = 5; // of a person
export const numberCodesPerDay = 3; // sent to a number
export const numberCodePauseSeconds = 60; // before another code may be requested in the app
// A range of numbers gets no more codes today if after this many fewer than one in `numberCodesPerCompletion` were
// typed.
export const numberCodesOfRange = 20;
export const numberCodesPerCompletion = 4;
// Somebody who proves a verified number takes it over if its holder did not use the account for this long, as operators
// sell unused numbers again after 45 to 90 days, or did not verify it again this long after an earlier proof.
export const numberUnusedDays = 45;
export const numberContestDays = 7;
export const numberRangeDigits = 5; // last digits by which the numbers of a range differ
// Vouching for a number (docs/decisions/vouching.md)
export const vouchersNeeded = 2;
export const vouchingHours = 24; // in which both contacts confirm
export const voucherDays = 30; // for which somebody has been a contact and has had a verified number
export const vouchesMax = 5; // of one person within `voucherDays`

// Recovery and other providers
export const mailedTokenMinutes = 60;
export const mailedCodeDigits = 8;
export const authCodeSeconds = 300;
export const oauthFlowSeconds = 600;
// time to complete the registration after a provider sign-in without an account
export const oauthRegistrationSeconds = 1_800;
export const emailMaxLength = 254;

// Proof of work. The solver derives keys with proofKeyRounds PBKDF2 rounds for counters 0, 1, 2 …; the solution is
// drawn below proofKeysMax, doubled on each level. On a desktop core 150 keys took 0.1 s, so a cheap phone needs at
// most 2 s.
export const proofKeysMax = 300;
export const proofKeyRounds = 2_000;
export const proofValidMs = 10 * 60_000;
export const proofSolveMs = 5 * 60_000; // time limit in the browser, for the highest level on a slow phone
export const proofsFree = 20; // proofs spent from one network before the level rises
export const proofsPerLevel = 15;
export const proofLevelMax = 3; // 8 times the work, so that users of the same network never wait for minutes
export const proofDecayMs = 15_000; // how long each spent proof counts

// Passwords (SPEC.md §5; OWASP password storage for the hash)
export const passwordMinLength = 6;
export const passwordMaxLength = 128;
export const scryptParameters = { N: 16_384, r: 8, p: 5, keyLength: 32 } as const;

// Phones: E.164, at most 15 digits. Shorter national test numbers exist, hence 6.
export const phoneMinDigits = 6;
export const phoneMaxDigits = 15;
export const phoneSearchMinLength = 3;
export const phoneSearchMaxResults = 10;
export const phoneTailDigits = 4; // last digits of a number, which match only if the whole number is typed
export const newAccountHours = 72; // age up to which an account has fewer searches
export const searchesPerDay = 60; // different numbers and parts of numbers that one person searches
export const searchesPerDayNew = 20;

// Handles
export const handleMinLength = 5;
export const handleMaxLength = 30;
export const handleChangesMax = 3; // at once; one more after each handleChangeDays
export const handleChangeDays = 10;
export const formerHandleDays = 30; // for which nobody else can choose a handle that was changed, removed or deleted

// Connection requests. Accepted ones do not count. How many a person sends: contract/settings/trust-tiers.ts
export const pendingRequestsMax = 20; // pending, to one person
export const requestsReceivedPerDay = 10; // to one person and not accepted
// Wait after the first, second and any further refusal by the same person
export const askAgainDays = [1, 7, 30] as const;
// Invitations to groups (docs/decisions/group-invitations.md)
export const groupInvitationDays = 30; // until an invitation expires
export const groupInvitationsAtOnce = 50; // by one request
export const groupInvitationsPerPairMax = 3; // of one person to another in a day, withdrawn ones included
export const groupInvitationsListedMax = 99; // to one person
export const formerMembersListedMax = 50; // whom the owner may invite again
// Context of a received request
export const exceptionsMax = 50; // people excepted from one setting
export const commonNamesMax = 3; // of common contacts, and of common groups
export const comparedContactsMax = 1_000; // contacts of a sender that are compared with those of the recipient
export const comparedGroupsMax = 20; // groups of the recipient, last active first, that are asked for the senders

// Files
export const fileMaxBytes = 25 * 1024 * 1024;
export const filePartBytes = 128 * 1024; // what a 3G connection transfers between two interruptions
export const filePartsAtOnce = 3;
export const fileMaxPixels = 50_000_000;
export const fileNameMaxLength = 120; // UTF-16 units
export const fileBytesPerDay = 1024 ** 3; // per person
export const storageMaxBytes = 5 * 1024 ** 3; // all stored files of one person
export const filesReceivingMax = 50; // announced and incomplete, per person
export const orphanMaxMs = 24 * 3_600_000; // age at which a file without a message is deleted
export const imageEdgePx = 1_600; // longer edge of an image that is not sent as original
export const thumbMaxLength = 48; // a thumbhash in base64url
export const waveformBars = 48; // one base64 digit each, 0 silent to 63 loud
export const voiceBitsPerSecond = 24_000;
export const voiceMinMs = 700; // a shorter recording is a mistake
export const voiceMaxMs = 60 * 60_000;
export const avatarMaxBytes = 5 * 1024 * 1024;
export const avatarMaxPixels = 50_000_000;
export const avatarSizes = [50, 512] as const;

// Tala
export const postGraphemesMax = 280; // user-perceived characters
export const postBytesMax = 1_680; // UTF-8: six per character, so that no status fills a page
export const postPageRows = 20;
export const postPageBytes = 8_000; // of a page as JSON; it ends earlier if statuses are long
export const pictureMaxBytes = 1_500_000; // as sent by the device, already reduced
export const postJsonMaxLength = 16_000; // JSON part of the form, with any escaping
export const postFormMaxBytes = pictureMaxBytes + 64 * 1024; // the whole form
export const pictureEdgePx = 1_280; // longer edge
export const pictureSmallPx = 200; // shown at 100×100 on high-density screens
export const postGoneMax = 100; // ids of statuses deleted before arrival that are kept per author
export const feedFreshMs = 10_000; // maximum age of the cached first page
export const feedOlderMs = 30_000; // maximum age of other cached pages
export const feedPollMs = 20_000; // poll interval of an open feed; three times as long with data saver

// Presence
export const presencePollMs = 30_000; // poll interval of an open chat
export const presenceStaleMs = 60_000; // a device not heard of for this long is offline
export const presenceBurst = 60; // queries per person; each wakes another channel
export const presencePerSecond = 1;
export const presenceWatchersMax = 16; // people notified when one person shows or hides their presence

// Account deletion: requests in flight when it began have arrived after this time and are purged then
export const deletionSettleMs = 120_000;

// Calls
export const callRingMs = 30_000; // ringing time on both sides
export const callAsleepMs = 10_000; // the callee's phone seems asleep if no device reported to ring for this long
export const callRecoverMs = 2_000; // time for a restarted conversation to find out whether the call rings on a device
export const callLongRingMs = 45_000; // ringing time on both sides in that case
export const callReconnectMs = 10_000; // time for a reloading page to reconnect on a slow network
export const callServerWaitMs = 3_000; // how long a device then waits for the server's decision
export const callConnectMs = 15_000; // time to establish media after the answer
export const callHeartbeatMs = 20_000; // heartbeat interval of a connected call
export const callSilentMaxMs = 60_000; // a call without heartbeats for this long is over
export const callStaleMs = 60_000; // a device silent for this long no longer keeps its person from other calls
export const callUnreachableMs = 25_000; // the same if the peer receives nothing either: a reload takes 20 s
export const callEndBackdateMaxMs = 120_000; // how far back a device may date the end of a call that it reports late
export const callHeardWriteMs = 30_000; // maximum delay of written heartbeat times
// Dialling rings another person each time; other call commands only cost a request to the conversation
export const dialBurst = 20;
export const dialsPerSecond = 0.1;
export const relayCredentialSeconds = 600; // renewed while a call uses the relay
// Unanswered calls in a row to the same person within this time
export const unansweredMax = 6;
export const unansweredMs = 10 * 60_000;
export const callCommandBurst = 100;
export const callCommandsPerSecond = 5;
export const signalBurst = 200;
export const signalsPerSecond = 50;
export const callSignalMaxBytes = 16 * 1024;
// Signals of one side in a call, in bytes of frames to each device of the peer: a burst, then a rate per second. A
// connection between two devices takes about 10 kB from each, and 5 kB every 4 s while one of them is not heard.
export const ringSignalBytes = 64 * 1024; // before the answer, since the callee has not agreed to receive them
export const ringSignalBytesPerSecond = 1024;
export const talkSignalBytes = 256 * 1024;
export const talkSignalBytesPerSecond = 4 * 1024;

// Push notifications
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
export const pushPauseMs = 2_000; // between two pushes of a person
export const pushSoundPauseMs = 60_000; // a notification sounds again after this time without one of its conversation
export const pushGoneRetryMs = 60_000; // a new subscription may be unknown to its push service for a moment
export const pushReactionWaitMs = 3_000; // in which reactions of a conversation are collected before its author is told
export const pushReactionPauseMs = 60_000; // between two pushes of the reactions in a conversation
export const pushReactionLifetimeSeconds = 24 * 3_600; // of a push that is not worth as much as a message
export const pushReactionsCounted = 1_024; // newest reactions that are counted: those of a whole group to one message
export const pushReactionsRead = 20; // newest reactions of which one is quoted: some may be of people who are blocked
