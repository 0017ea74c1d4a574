import { escapeHtmlText } from "./html.ts";
import { serveLocalMessages } from "./local-mailbox.ts";

/** Path at which a local build shows the codes that it would send to numbers. Other builds do not contain it. */
export const localSmsPath = "/dev/sms";
const storedMax = 50;

export type LocalSms = { to: string; channel: string; text: string };

/** Newest first; lost when the process ends. */
const storedMessages: (LocalSms & { sent_at: number })[] = [];

export const storeLocalSms = (message: LocalSms): void => {
  storedMessages.unshift({ ...message, sent_at: Date.now() });
  storedMessages.length = Math.min(storedMessages.length, storedMax);
};

const toArticle = ({ to, channel, text, sent_at }: (typeof storedMessages)[number]): string =>
  `<article><h2>${escapeHtmlText(to)}</h2><small>${escapeHtmlText(channel)} · <time>${new Date(sent_at).toISOString()}</time></small><p>${escapeHtmlText(text).replaceAll("\n", "<br>")}</p></article>`;

/** Serves the last messages to numbers in development: a page, or JSON for tests. */
export const serveLocalSms = (request: Request): Response =>
  serveLocalMessages(request, "Messages of this machine", storedMessages, toArticle);
