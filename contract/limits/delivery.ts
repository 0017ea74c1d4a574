import { dayMs } from "./durations.ts";

/** Timings of delivery: group commit, fan-out to members, retries and receipts. */

export const groupCommitMs = 4;
export const fanOutAtOnce = 6; // the platform's limit of outgoing connections per object
export const fanOutAlarmMs = 3_000;
export const fanOutRetryMaxMs = 30_000;
export const retryBaseMs = 500;
export const retryMaxMs = 30_000;
export const activeRetryMaxMs = 4_000; // while the page is in use and no network or server responds
export const receiptCoalesceMs = 300;
// Receipts are pushed at once, and written with the next change or after this time, which is less than fanOutAlarmMs.
export const receiptHoldMs = 2_000;
export const restoreWindowMs = 30 * dayMs; // how far back the platform can restore an object
export const sendStallMs = 10_000; // how long later messages wait for one that must be sent again
