import { escapeHtmlText, toParagraphs } from "./html.ts";
import type { Mail } from "./mail.ts";

export const mailboxPath = "/dev/mail";
const storedMailsMax = 50;

/** Newest first; lost when the process ends. */
const storedMails: (Mail & { sent_at: number })[] = [];

export const storeLocalMail = (mail: Mail): void => {
  storedMails.unshift({ ...mail, sent_at: Date.now() });
  storedMails.length = Math.min(storedMails.length, storedMailsMax);
};

const style =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}article{border-top:1px solid #8888;padding:1rem 0}h2{font-size:1.1rem;margin:0}a{overflow-wrap:anywhere}small{opacity:.7}";

const toArticle = ({ to, subject, text, sent_at }: (typeof storedMails)[number]): string =>
  `<article><h2>${escapeHtmlText(subject)}</h2><small>${escapeHtmlText(to)} · <time>${new Date(sent_at).toISOString()}</time></small>${toParagraphs(text)}</article>`;

/** Serves messages stored in development: a page, or JSON for tests. */
export const serveLocalMessages = <Message>(
  request: Request,
  title: string,
  messages: readonly Message[],
  toArticleHtml: (message: Message) => string,
): Response => {
  const headers = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
  if (request.method !== "GET") return new Response(null, { status: 405, headers: { allow: "GET" } });
  if (request.headers.get("accept")?.includes("application/json")) return Response.json(messages, { headers });
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style><h1>${title}</h1>${
    messages.map(toArticleHtml).join("") || "<p>None yet.</p>"
  }</html>`;
  return new Response(page, {
    headers: {
      ...headers,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    },
  });
};

/** Serves the last mails in development. */
export const serveMailbox = (request: Request): Response =>
  serveLocalMessages(request, "Mails of this machine", storedMails, toArticle);
