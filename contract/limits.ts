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
export const searchScanRows = 20_000; // messages one search call looks at before it answers with a cursor
export const searchScanLength = 1_000_000; // and UTF-16 units of their words, after which it does so too
export const searchResultsMax = 40;

// Back-pressure of one socket: what it was sent and has not confirmed
export const creditMessages = 400;
export const creditBytes = 256 * 1024;
export const pageCreditMessages = 400; // and of what it asked for itself; their bytes have a credit like those of pushes
export const creditReportMessages = 200; // a device confirms at least this often
export const behindMaxMs = 60_000; // a socket that stays behind longer is closed

// One body to many conversations: forwarding, broadcasting
export const spreadMax = 50;

// Groups
export const groupMembersMax = 1_024;
export const groupTypingMax = 32; // members; in a bigger group nobody is told who types
export const groupMarkHoldMs = 1_000; // how long members' marks are gathered before the authors hear of them
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

// Delivery
export const groupCommitMs = 4;
export const fanOutAtOnce = 6; // the platform's outgoing connections of one object
export const fanOutAlarmMs = 3_000;
export const fanOutRetryMaxMs = 30_000;
export const retryBaseMs = 500;
export const retryMaxMs = 30_000;
export const usedRetryMaxMs = 4_000; // while somebody uses the page and no network, or no server, answers at all
export const receiptCoalesceMs = 300;
export const markHoldMs = 2_000; // marks are pushed at once and written with the next change, or after this; < fanOutAlarmMs
export const restoreWindowMs = 30 * 24 * 3_600_000; // how far back the platform restores an object
export const sendStallMs = 10_000; // how long what follows a message that has to be sent again waits for it

// Sending: flood protection of the object (it commits 200–500 times a second), far above what a person types
export const sendBurst = 2_000;
export const sendPerSecond = 50;
// A message deleted before it came is not taken in for so long, of each member's the newest so many in a conversation
export const withdrawnKeptMs = 30 * 24 * 3_600_000;
export const withdrawnMax = 100;
// Pages, searches and changes of one person: a device that was away for long asks for many at once
export const readBurst = 500;
export const readPerSecond = 50;

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
export const awaitingMinutes = 10; // how long a session may owe its second step
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
export const proofLevelMax = 6; // 64 times the work
export const proofIntervalMs = 15_000; // a spent proof counts so much longer

// Passwords (SPEC.md §5; OWASP password storage for the hash)
export const passwordMinLength = 6;
export const passwordMaxLength = 128;
export const scryptParameters = { N: 16_384, r: 8, p: 5, keyLength: 32 } as const;

// Phones: E.164, at most 15 digits. Shorter national test numbers exist, hence 6.
export const phoneMinDigits = 6;
export const phoneMaxDigits = 15;
export const phoneSearchMinLength = 3;
export const phoneSearchMaxResults = 10;

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
export const feedLookMs = 20_000; // how often an open feed asks for new ones; three times as long where data are dear

// Presence
export const presenceAskMs = 30_000; // how often an open chat asks
export const presenceStaleMs = 60_000; // a device that was not heard of for so long is not here
export const presenceBurst = 60; // questions of one person; each wakes somebody else's channel
export const presencePerSecond = 1;
export const presenceWatchersMax = 16; // who asked about one person and is told when they turn it, or come
export const presenceAwaitedMs = 10 * 60_000; // for so long who asked in vain is told of whoever comes

// Deleting an account: what a device had under way when it began has arrived after this, and is cleared away then
export const deletionSettleMs = 120_000;

// Calls
export const callRingMs = 30_000; // how long it rings, for both sides
export const callGoneMs = 10_000; // a page that is loaded anew on a slow network has its socket again by then
export const callVerdictMs = 3_000; // how long a device waits for the server's word after that
export const callConnectMs = 15_000; // answered and nothing heard
export const callBeatMs = 20_000; // how often who talks says so
export const callSilentMaxMs = 60_000; // a call of which nobody says so any more is over
export const callAbandonedMs = 60_000; // who was not heard of for so long is kept from no other call
export const callLostMs = 25_000; // or for so long, where the other side hears nothing of them: a reload takes 20 s
export const callAgoMaxMs = 120_000; // as long as a side waits for the other's voice, and then for a way to the server
export const callNoteMs = 30_000; // how far what is written of when they were last heard of may be behind
// Dialling again and again rings somebody each time; the other things asked about calls are a request to the conversation
export const dialBurst = 20;
export const dialsPerSecond = 0.1;
export const relayCredentialSeconds = 600; // renewed while a call goes through the relay
// How often in a row somebody may ring the same person unanswered, within such a time
export const unansweredMax = 10;
export const unansweredMs = 10 * 60_000;
export const callDeedBurst = 100;
export const callDeedsPerSecond = 5;
export const signalBurst = 200;
export const signalsPerSecond = 50;
export const callSignalMaxBytes = 16 * 1024;
// What one side's signals in a call may take, as frames, on each device of the other: so much at once, and so much again
// each second. A way between two devices takes about 10 kB of each, and 5 kB every 4 s while one of them is not heard.
export const ringSignalBytes = 64 * 1024; // before it is answered: whoever is rung has not asked for it
export const ringSignalBytesPerSecond = 1024;
export const talkSignalBytes = 256 * 1024;
export const talkSignalBytesPerSecond = 4 * 1024;
