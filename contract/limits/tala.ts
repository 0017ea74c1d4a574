/** Limits of Tala, the feed of statuses. */

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
