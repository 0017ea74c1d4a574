/** Every number two sides must agree on, with its unit in its name. */

// Text
export const messageTextMaxLength = 8_000; // UTF-16 units, as `String.length` counts them
export const displayNameMaxLength = 50;
export const groupNameMaxLength = 100;
export const searchQueryMaxLength = 100;

// Frames and commands
export const frameMaxBytes = 64 * 1024;
export const joinedFramesMax = 32; // frames of a device that travel as one
export const bodyMaxBytes = 256 * 1024; // any JSON request body
export const sendBatchMax = 50; // messages in one HTTP send
export const outboxWindow = 16; // messages of one device under way at once

// Pages. Opening a list or a page of a chat reads at most 50 rows, the look-ups around it included.
export const inboxPageRows = 30;
export const messagePageRows = 40;
export const gapPageRows = 200;
export const contactPageRows = 20; // each with its profile
export const requestPageRows = 20;
export const blockPageRows = 20;
export const pageMaxBytes = 128 * 1024;
export const previewMaxLength = 160; // a text no longer than this travels whole in its inbox row
// A search looks at a slice of a conversation at a time, and lets everything else that waits there come between two slices
export const searchSliceRows = 1_000; // messages
export const searchSliceLength = 50_000; // and UTF-16 units of their words, whichever comes first
export const searchSlicesMax = 20; // slices of one search call before it answers with a cursor
export const searchResultsMax = 40;

// Back-pressure of one socket: what it was sent and has not confirmed
export const creditMessages = 400;
export const creditBytes = 256 * 1024;
export const pageCreditMessages = 400; // and of what it asked for itself; their bytes have a credit like those of pushes
export const creditReportMessages = 200; // a device confirms at least this often
export const behindMaxMs = 60_000; // a socket that stays behind longer is closed

// One body to many conversations: forwarding, broadcasting
export const multicastMax = 50;

// Groups
export const groupMembersMax = 1_024;
export const groupTypingMax = 32; // members; in a bigger group nobody is told who types
export const groupReceiptHoldMs = 1_000; // how long members' marks are gathered before the authors hear of them
export const groupReturnDays = 30; // how long nobody adds somebody to a group who left it
export const memberPageRows = 90; // each with its profile; a D1 query takes 100 values

// Typing: told again this often while it goes on, and over when nothing was told for the other
export const typingRepeatMs = 3_000;
export const typingLastsMs = 5_000;

// Sockets
export const socketsPerUserMax = 64;
export const pingVisibleMs = 25_000;
export const pingHiddenMs = 50_000;
export const pongTimeoutMs = 10_000;
export const probeAfterActivityMs = 3_000;
export const malformedFramesMax = 5; // in malformedWindowMs, then the socket is closed
export const malformedWindowMs = 10_000;

export const helloTimeoutMs = 30_000; // a socket that has not said hello by then is closed; a device gives up after 20 s

// Frames and commands, in tokens (their costs: worker/objects/user-channel/frames/frame-costs.ts): those of one socket, and those of one person
// by all sockets and by HTTP. A device that has been away for long and catches up with 500 conversations takes about 1,000.
export const socketTokensBurst = 1_000;
export const socketTokensPerSecond = 50;
export const userTokensBurst = 2_000;
export const userTokensPerSecond = 100;
export const frameTokenBytes = 4 * 1024; // a message takes another token for each so many
// Messages that were refused unread. After so many their socket is closed; a device waits when it is told to. Whoever goes on
// sending after that loses all sockets, and opens none for a while: no platform offers a way to stop reading just one.
export const refusedMessagesBurst = 1_000;
export const refusedMessagesPerSecond = 10;
export const closedMessagesMax = 500; // messages on closed sockets; as many may be on their way when the close arrives
export const floodPauseMs = 30_000;
export const commandsAtOnce = 8; // of one socket under way; the others wait for their turn, and go with their socket

// Delivery
export const groupCommitMs = 4;
export const fanOutAtOnce = 6; // the platform's outgoing connections of one object
export const fanOutAlarmMs = 3_000;
export const fanOutRetryMaxMs = 30_000;
export const retryBaseMs = 500;
export const retryMaxMs = 30_000;
export const activeRetryMaxMs = 4_000; // while somebody uses the page and no network, or no server, answers at all
export const receiptCoalesceMs = 300;
export const receiptHoldMs = 2_000; // marks are pushed at once and written with the next change, or after this; < fanOutAlarmMs
export const restoreWindowMs = 30 * 24 * 3_600_000; // how far back the platform restores an object
export const sendStallMs = 10_000; // how long what follows a message that has to be sent again waits for it

// Sending, of one person over all conversations: more than anybody types; what was written without a network goes at this pace
export const sendBurst = 60;
export const sendPerSecond = 1;
export const sendUnwrittenMax = 10; // messages after which it is written how many are left
export const sendRetryMessages = 5; // a device that is told to wait waits for so many: told for each, it would ask each second
// Of one member in a conversation: 600 of the longest texts. Files are counted by themselves (fileBytesPerDay).
export const memberBytesPerDay = 5 * 1024 * 1024;
export const memberBytesUnwrittenMax = 2 * 1024;
// A conversation takes no messages beyond this. An object may have 10 GB: the rest is for leaving, deleting and blocking.
export const conversationMaxBytes = 8 * 1024 ** 3;
// A message deleted before it came is not taken in for so long, of each member's the newest so many in a conversation
export const pendingDeletionLifetimeMs = 30 * 24 * 3_600_000;
export const pendingDeletionsMax = 100;
// Pages and changes of one person: a device that was away for long asks for many at once
export const readBurst = 500;
export const readPerSecond = 50;
// Slices that one person's searches look at: five whole calls at once, and one a second
export const searchSliceBurst = 5 * searchSlicesMax;
export const searchSlicesPerSecond = 20;
// Questions to the directory whether two people are connected of whom one asks for their conversation
export const connectionCheckBurst = 5;
export const connectionChecksPerSecond = 0.1;
// Messages deleted for everybody, of one person: each is told to all members
export const deletionBurst = 60;
export const deletionsPerSecond = 1;
// Histories cleared by one person: each rewrites the row of a conversation and counts its unread messages again
export const clearHistoryBurst = 60;
export const clearHistoriesPerSecond = 1;
export const muteBurst = 100; // changes of what one person has muted
export const mutesPerDay = 100;

// Sessions
export const accessTokenSeconds = 600;
export const refreshGraceSeconds = 10;
export const sessionIdleDays = 30;
export const sessionAbsoluteDays = 90;
export const sessionsPerUserMax = 10;
// A token this close to its end is renewed before it is used: a try that nobody answers (30 s), the waits between all tries
// (12.6 s) and one that a slow network answers late (30 s) are over before it ends, with some left for the token's own way. A
// bigger one would only renew more often: of its ten minutes a token is used for eight and a half.
export const refreshMarginSeconds = 90;
export const knownDeviceDays = 400; // the longest that browsers keep a cookie
export const knownDevicePeopleMax = 5; // who signed in on a device last, and is known there

// Second step and what may be changed after it
export const pendingSecondFactorMinutes = 10; // how long a session may owe its second step
export const stepUpSeconds = 300; // a factor shown this lately lets one change how one signs in
export const totpDigits = 6;
export const totpStepSeconds = 30;
export const totpWindowSteps = 1; // a code of the step before or after is taken too
export const totpSecretBytes = 20;
export const factorsMax = 5; // code apps of a person
export const factorNameMaxLength = 50;
export const recoveryCodesCount = 10;
export const passkeysMax = 20;
export const ceremonySeconds = 300; // how long a challenge may be answered
export const factorResetHours = 72; // what whoever lost their factors waits for
// How long nobody may ask for it again after it was stopped for the first, the second and any further time.
export const factorResetPauseHours = [1, 24, 168] as const;
export const factorResetPausesForgottenDays = 30; // from then on the next stop is a first one
export const securityNoticesMax = 20; // kept of a person, the newest

// Recovery and other providers
export const mailedTokenMinutes = 60;
export const mailedCodeDigits = 8;
export const authCodeSeconds = 300;
export const oauthFlowSeconds = 600;
export const oauthRegistrationSeconds = 1_800; // how long whom nobody is linked to may take to fill in the registration
export const emailMaxLength = 254;

// Proof of work. The solver derives keys of proofKeyRounds PBKDF2 rounds for the counters 0, 1, 2 …; which one is right is
// drawn below proofKeysMax, twice as many on each level. On a desktop core 150 keys took 0.1 s: a cheap phone needs 2 s at most.
export const proofKeysMax = 300;
export const proofKeyRounds = 2_000;
export const proofValidMs = 10 * 60_000;
export const proofSolveMs = 5 * 60_000; // how long the browser works on one, at the highest level on a slow phone
export const proofsFree = 20; // spent from one network, before the level rises
export const proofsPerLevel = 15;
export const proofLevelMax = 3; // 8 times the work: others of the same network make nobody wait for minutes
export const proofDecayMs = 15_000; // a spent proof counts so much longer

// Passwords (SPEC.md §5; OWASP password storage for the hash)
export const passwordMinLength = 6;
export const passwordMaxLength = 128;
export const scryptParameters = { N: 16_384, r: 8, p: 5, keyLength: 32 } as const;

// Phones: E.164, at most 15 digits. Shorter national test numbers exist, hence 6.
export const phoneMinDigits = 6;
export const phoneMaxDigits = 15;
export const phoneSearchMinLength = 3;
export const phoneSearchMaxResults = 10;
export const phoneTailDigits = 4; // at a number's end, by which it is found only when all of it is typed
export const newAccountHours = 72; // how long an account is new: it may do less of what strangers notice
export const searchesPerDay = 60; // different numbers and parts of numbers that one person looks for
export const searchesPerDayNew = 20;

// Requests to connect. Those that were accepted count for nothing.
export const requestsPerDay = 50; // of one person, made and not accepted
export const requestsNewMax = 5; // of a new account, as long as it is new
export const pendingRequestsMax = 20; // to one person, waiting for an answer
export const requestsReceivedPerDay = 10; // to one person, not accepted
// After the first, the second and any further refusal by the same person
export const askAgainDays = [1, 7, 30] as const;

// Files
export const fileMaxBytes = 25 * 1024 * 1024;
export const filePartBytes = 128 * 1024; // what 3G carries between two drops
export const filePartsAtOnce = 3;
export const fileMaxPixels = 50_000_000;
export const fileNameMaxLength = 120; // UTF-16 units
export const fileBytesPerDay = 1024 ** 3; // of one person
export const storageMaxBytes = 5 * 1024 ** 3; // of all files of one person that are kept
export const filesReceivingMax = 50; // of one person, announced and not complete
export const orphanMaxMs = 24 * 3_600_000; // a file that no message names goes after this long
export const imageEdgePx = 1_600; // the longer edge of a picture that is not sent as its original
export const thumbMaxLength = 48; // a thumbhash in base64url
export const waveformBars = 48; // one base64 digit each, 0 silent to 63 loud
export const voiceBitsPerSecond = 24_000;
export const voiceMinMs = 700; // held shorter than this was a slip
export const voiceMaxMs = 60 * 60_000;
export const avatarMaxBytes = 5 * 1024 * 1024;
export const avatarMaxPixels = 50_000_000;
export const avatarSizes = [50, 512] as const;

// Tala
export const postGraphemesMax = 280; // characters as a person counts them
export const postBytesMax = 1_680; // of UTF-8: six for each, so that no status fills a page by itself
export const postPageRows = 20;
export const postPageBytes = 8_000; // of a page as JSON; it ends earlier where statuses are long
export const pictureMaxBytes = 1_500_000; // as the phone sends it, already small
export const postJsonMaxLength = 16_000; // of the form's JSON part, however it writes its letters
export const postFormMaxBytes = pictureMaxBytes + 64 * 1024; // the whole form
export const pictureEdgePx = 1_280; // its longer edge
export const pictureSmallPx = 200; // what the feed shows at 100×100 on a sharp screen
export const postGoneMax = 100; // statuses taken back before they came, of each author, that are remembered
export const feedFreshMs = 10_000; // how old the first page may be
export const feedOlderMs = 30_000; // and the others
export const feedPollMs = 20_000; // how often an open feed asks for new ones; three times as long where data are dear

// Presence
export const presencePollMs = 30_000; // how often an open chat asks
export const presenceStaleMs = 60_000; // a device that was not heard of for so long is not here
export const presenceBurst = 60; // questions of one person; each wakes somebody else's channel
export const presencePerSecond = 1;
export const presenceWatchersMax = 16; // who asked about one person and is told when they turn it, or come
export const presenceSubscriptionMs = 10 * 60_000; // for so long who asked in vain is told of whoever comes

// Deleting an account: what a device had under way when it began has arrived after this, and is cleared away then
export const deletionSettleMs = 120_000;

// Calls
export const callRingMs = 30_000; // how long it rings, for both sides
export const callReconnectMs = 10_000; // a page that is loaded anew on a slow network has its socket again by then
export const callServerWaitMs = 3_000; // how long a device waits for the server's word after that
export const callConnectMs = 15_000; // answered and nothing heard
export const callHeartbeatMs = 20_000; // how often who talks says so
export const callSilentMaxMs = 60_000; // a call of which nobody says so any more is over
export const callAbandonedMs = 60_000; // who was not heard of for so long is kept from no other call
export const callUnreachableMs = 25_000; // or for so long, where the other side hears nothing of them: a reload takes 20 s
export const callAgoMaxMs = 120_000; // as long as a side waits for the other's voice, and then for a way to the server
export const callHeardWriteMs = 30_000; // how far what is written of when they were last heard of may be behind
// Dialling again and again rings somebody each time; the other things asked about calls are a request to the conversation
export const dialBurst = 20;
export const dialsPerSecond = 0.1;
export const relayCredentialSeconds = 600; // renewed while a call goes through the relay
// How often in a row somebody may ring the same person unanswered, within such a time
export const unansweredMax = 6;
export const unansweredMs = 10 * 60_000;
export const callCommandBurst = 100;
export const callCommandsPerSecond = 5;
export const signalBurst = 200;
export const signalsPerSecond = 50;
export const callSignalMaxBytes = 16 * 1024;
// What one side's signals in a call may take, as frames, on each device of the other: so much at once, and so much again
// each second. A way between two devices takes about 10 kB of each, and 5 kB every 4 s while one of them is not heard.
export const ringSignalBytes = 64 * 1024; // before it is answered: whoever is rung has not asked for it
export const ringSignalBytesPerSecond = 1024;
export const talkSignalBytes = 256 * 1024;
export const talkSignalBytesPerSecond = 4 * 1024;
