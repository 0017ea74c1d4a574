/** A part of a message that leads somewhere: what is shown, and where it goes. */
export type LinkPart = {
  text: string;
  href: string;
  /** Where it really leads, when the letters shown may be taken for others. */
  host?: string;
};
export type TextPart = string | LinkPart;

// Nothing invisible and nothing that reorders is part of an address; neither is a backslash, which browsers take for a slash.
const addressChar = String.raw`[^\s\p{Cc}\p{Cf}<>"“”«»\\^{}|\x60]`;
const webAddress = `(?:https?://|www\\.)${addressChar}+`;
// No longer than RFC 5321 lets its parts be: what could begin anywhere is not followed to the end of the text from everywhere.
const mailAddress = String.raw`[a-z0-9][a-z0-9._%+-]{0,63}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,63}`;
const phoneNumber = String.raw`\+\d(?:[ .-]?\d){7,14}`;
const linkCandidates = new RegExp(
  // The browsers of cheap phones cannot look behind: what stands before is matched too.
  String.raw`(^|[^\p{L}\p{N}@/._-])(?:(${webAddress})|(${mailAddress})|(${phoneNumber}))`,
  "giu",
);

const openingBrackets: Record<string, string> = { ")": "(", "]": "[" };
const countCharacter = (text: string, char: string): number => text.split(char).length - 1;

/** What ends a sentence is no part of the address in it; a bracket is when it was opened inside. */
const trimTrailingPunctuation = (text: string): string => {
  const surplus = new Map(
    Object.entries(openingBrackets).map(([closing, opening]) => [
      closing,
      countCharacter(text, closing) - countCharacter(text, opening),
    ]),
  );
  let end = text.length;
  for (; end > 0; end--) {
    const char = text.charAt(end - 1);
    const left = surplus.get(char) ?? 0;
    if (left > 0) surplus.set(char, left - 1);
    else if (!/[.,;:!?…'’*_~]/.test(char)) break;
  }
  return text.slice(0, end);
};

/** An address of the web, or nothing: only http and https, no name before an @, a host with a dot. */
const toWebLink = (text: string): LinkPart | undefined => {
  let url: URL;
  try {
    url = new URL(/^www\./i.test(text) ? `https://${text}` : text);
  } catch {
    return undefined;
  }
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  if (!isWeb || url.username !== "" || url.password !== "" || !/[^.]\.[^.]/.test(url.hostname)) return undefined;
  const written = /^(?:https?:\/\/)?([^/?#:]*)/i.exec(text)?.[1]?.toLowerCase();
  return { text, href: url.href, ...(written === url.hostname ? {} : { host: url.hostname }) };
};

const toLink = (web: string | undefined, mail: string | undefined, phone: string | undefined): LinkPart | undefined => {
  if (web !== undefined) return toWebLink(trimTrailingPunctuation(web));
  if (mail !== undefined) return { text: mail, href: `mailto:${mail}` };
  return phone === undefined ? undefined : { text: phone, href: `tel:${phone.replace(/[^+\d]/g, "")}` };
};

/** A message's text, cut where something in it leads elsewhere. Joined together the parts are the text again. */
export const toTextParts = (text: string): TextPart[] => {
  const parts: TextPart[] = [];
  let end = 0;
  for (const match of text.matchAll(linkCandidates)) {
    const [, before = "", web, mail, phone] = match;
    const link = toLink(web, mail, phone);
    const start = match.index + before.length;
    // A number that goes on where it was cut off is not a telephone's.
    if (!link || (phone !== undefined && /\d/.test(text.charAt(start + phone.length)))) continue;
    if (start > end) parts.push(text.slice(end, start));
    parts.push(link);
    end = start + link.text.length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
};
