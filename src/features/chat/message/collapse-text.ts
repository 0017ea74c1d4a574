import { toTextParts } from "#contract/wire/links.ts";

const collapsedLines = 20;
const collapsedChars = 1_200;
const collapseTolerance = 1.2; // a text that is only slightly longer is not collapsed
const phoneNumberMaxChars = 32; // with spaces; only phone numbers contain any

/** Moves a cut position to the beginning of a link around it, because a truncated URL would lead elsewhere. */
const avoidSplittingLink = (text: string, position: number): number => {
  // Parse only up to the end of the link: the rest may be very long.
  const space = text.slice(position + phoneNumberMaxChars).search(/\s/);
  const parsed = space === -1 ? text : text.slice(0, position + phoneNumberMaxChars + space);
  let start = 0;
  for (const part of toTextParts(parsed)) {
    const end = start + (typeof part === "string" ? part : part.text).length;
    if (end > position) return typeof part === "string" ? position : start || end;
    start = end;
  }
  return position;
};

/** Beginning of a long text, cut between words; undefined if the text is short enough. */
export const collapseText = (text: string): string | undefined => {
  const lines = text.split("\n");
  if (text.length <= collapsedChars * collapseTolerance && lines.length <= collapsedLines * collapseTolerance)
    return undefined;
  const start = lines.slice(0, collapsedLines).join("\n");
  if (start.length <= collapsedChars) return start.trimEnd();
  // Never split a surrogate pair; prefer a space nearby.
  const cut = start.slice(0, collapsedChars).replace(/[\ud800-\udbff]$/, "");
  const space = cut.search(/\s\S{0,40}$/);
  return text.slice(0, avoidSplittingLink(text, space > 0 ? space : cut.length)).trimEnd();
};
