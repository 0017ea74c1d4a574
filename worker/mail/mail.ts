import type { Language } from "#contract/language.ts";
import { escapeHtmlText, toParagraphs } from "./html.ts";

export type Mail = { to: string; subject: string; text: string; html: string };
export type MailText = { subject: string; text: string };

/** Minimal HTML: loads nothing and contains no tracking. */
const toHtmlDocument = (language: Language, subject: string, body: string): string =>
  `<!doctype html><html lang="${language}"><meta charset="utf-8"><title>${escapeHtmlText(subject)}</title>\n${body}</html>`;

export const toMail = (to: string, language: Language, { subject, text }: MailText): Mail => ({
  to,
  subject,
  text,
  html: toHtmlDocument(language, subject, toParagraphs(text)),
});

/** Mail in several languages, one below the other, with the subject of the first. */
export const toMultilingualMail = (
  to: string,
  words: readonly [[Language, MailText], ...[Language, MailText][]],
): Mail => {
  const [[language, { subject }]] = words;
  return {
    to,
    subject,
    text: words.map(([, { text }]) => text).join("\n\n—\n\n"),
    html: toHtmlDocument(
      language,
      subject,
      words
        .map(([textLanguage, { text }]) => `<div lang="${textLanguage}">\n${toParagraphs(text)}\n</div>`)
        .join("\n<p>—</p>\n"),
    ),
  };
};
