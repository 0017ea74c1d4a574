import { dayMs } from "./durations.ts";

/** Limits of files, pictures and voice messages. */

// Files
export const fileMaxBytes = 25 * 1024 * 1024;
export const filePartBytes = 128 * 1024; // what a 3G connection transfers between two interruptions
export const filePartsAtOnce = 3;
export const fileNameMaxLength = 120; // UTF-16 units
export const fileBytesPerDay = 1024 ** 3; // per person
export const storageMaxBytes = 5 * 1024 ** 3; // all stored files of one person
export const filesReceivingMax = 50; // announced and incomplete, per person
export const orphanMaxMs = dayMs; // age at which a file without a message is deleted

// Pictures
export const fileMaxPixels = 50_000_000;
export const imageEdgePx = 1_600; // longer edge of an image that is not sent as original
export const thumbMaxLength = 48; // a thumbhash in base64url

// Voice messages
export const waveformBars = 48; // one base64 digit each, 0 silent to 63 loud
export const voiceBitsPerSecond = 24_000;
export const voiceMinMs = 700; // a shorter recording is a mistake
export const voiceMaxMs = 60 * 60_000;

// Avatars
export const avatarMaxBytes = 5 * 1024 * 1024;
export const avatarMaxPixels = 50_000_000;
export const avatarSizes = [50, 512] as const;
