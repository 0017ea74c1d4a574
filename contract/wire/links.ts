/** Link within a message: shown text and target. */
export type LinkPart = {
  text: string;
  href: string;
  /** Real host, if the shown letters can be mistaken for others. */
  host?: string;
};
export type TextPart = string | LinkPart;

// Invisible and reordering characters, quotation marks, and the punctuation of scripts that separate sentences without
// a space end an address. Signs that a browser encodes in a URL, such as { and |, belong to it.
const addressChar = String.raw`[^\s\p{Cc}\p{Cf}<>"“”„«»‹›،؛؟۔।॥。．｡、､，：；！？（）「」『』【】《》〈〉]`;
/** Pattern of a web address, still with the marks at its end that belong to the sentence (flags i and u). */
export const webAddress = `(?:https?://|www\\.)${addressChar}+`;
// Lengths are limited as in RFC 5321, which also bounds backtracking in long texts.
const mailAddress = String.raw`[a-z0-9][a-z0-9._%+-]{0,63}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,63}`;
const phoneNumber = String.raw`\+\d(?:[ .-]?\d){7,14}`;
const linkCandidates = new RegExp(
  // Browsers of older phones lack lookbehind: the preceding character is part of the match.
  String.raw`(^|[^\p{L}\p{N}@/._-])(?:(${webAddress})|(${mailAddress})|(${phoneNumber}))`,
  "giu",
);

const openingBrackets: Record<string, string> = { ")": "(", "]": "[", "}": "{" };
const countCharacter = (text: string, char: string): number => text.split(char).length - 1;

/** Trailing punctuation belongs to the sentence; a closing bracket belongs to the URL only if it was opened inside. */
export const trimTrailingPunctuation = (text: string): string => {
  const surplus = new Map(
    Object.entries(openingBrackets).map(([closing, opening]) => [
      closing,
      countCharacter(text, closing) - countCharacter(text, opening),
    ]),
  );
  let end = text.length;
  for (; end > 0; end--) {
    const char = text.charAt(end - 1);
    const surplusCount = surplus.get(char) ?? 0;
    if (surplusCount > 0) surplus.set(char, surplusCount - 1);
    else if (!/[.,;:!?…'’*_~|\x60]/.test(char)) break;
  }
  return text.slice(0, end);
};

/**
 * Link for a web address; undefined unless it is http or https, without credentials, with a host that contains a dot.
 */
const toWebLink = (text: string): LinkPart | undefined => {
  let url: URL;
  try {
    url = new URL(/^www\./i.test(text) ? `https://${text}` : text);
  } catch {
    return undefined;
  }
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  if (!isWeb || url.username !== "" || url.password !== "" || !/[^.]\.[^.]/.test(url.hostname)) return undefined;
  const shownHost = /^(?:https?:\/\/)?([^/?#:]*)/i.exec(text)?.[1]?.toLowerCase();
  return { text, href: url.href, ...(shownHost === url.hostname ? {} : { host: url.hostname }) };
};

const toLink = (web: string | undefined, mail: string | undefined, phone: string | undefined): LinkPart | undefined => {
  if (web !== undefined) return toWebLink(trimTrailingPunctuation(web));
  if (mail !== undefined) return { text: mail, href: `mailto:${mail}` };
  return phone === undefined ? undefined : { text: phone, href: `tel:${phone.replace(/[^+\d]/g, "")}` };
};

/** Splits a message text at its links. Joining the parts gives the original text. */
export const toTextParts = (text: string): TextPart[] => {
  const parts: TextPart[] = [];
  let end = 0;
  for (const match of text.matchAll(linkCandidates)) {
    const [, before = "", web, mail, phone] = match;
    const link = toLink(web, mail, phone);
    const start = match.index + before.length;
    // A longer number is not a phone number.
    if (!link || (phone !== undefined && /\d/.test(text.charAt(start + phone.length)))) continue;
    if (start > end) parts.push(text.slice(end, start));
    parts.push(link);
    end = start + link.text.length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
};

const webStart = /https?:\/\/|www\./i;
const isWebLink = (part: TextPart): part is LinkPart => typeof part !== "string" && /^https?:/.test(part.href);

/** Web addresses in a message text, without mail addresses and phone numbers. */
export const listWebLinks = (text: string): LinkPart[] =>
  webStart.test(text) ? toTextParts(text).filter(isWebLink) : [];
