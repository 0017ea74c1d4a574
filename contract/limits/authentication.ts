/** Limits and lifetimes of sign-in: sessions, factors, recovery, providers, proof of work and passwords. */

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
// Older sessions are confirmed by the server before their content is shown, unless the device is offline: the person may
// have ended them from elsewhere.
export const sessionConfirmedHours = 24;
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

// Recovery and other providers
export const mailedTokenMinutes = 60;
export const mailedCodeDigits = 8;
export const authCodeSeconds = 300;
export const oauthFlowSeconds = 600;
export const oauthRegistrationSeconds = 1_800; // to register after a provider sign-in without an account
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
