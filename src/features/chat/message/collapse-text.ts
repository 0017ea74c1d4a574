import { toTextParts } from "#lib/text/links.ts";

const collapsedLines = 20;
const collapsedChars = 1_200;
const collapseTolerance = 1.2; // for a little more it is not worth a tap
const phoneNumberMaxChars = 32; // with the spaces in it; no other link has any

/** The same place, or the beginning of the link around it: half an address would lead elsewhere. */
const avoidSplittingLink = (text: string, at: number): number => {
  // What stands behind the link is not looked at: there may be much of it.
  const space = text.slice(at + phoneNumberMaxChars).search(/\s/);
  const near = space === -1 ? text : text.slice(0, at + phoneNumberMaxChars + space);
  let start = 0;
  for (const part of toTextParts(near)) {
    const end = start + (typeof part === "string" ? part : part.text).length;
    if (end > at) return typeof part === "string" ? at : start || end;
    start = end;
  }
  return at;
};

/** The beginning of a long text, cut between words; undefined when the text is short enough to stand whole. */
export const collapseText = (text: string): string | undefined => {
  const lines = text.split("\n");
  if (text.length <= collapsedChars * collapseTolerance && lines.length <= collapsedLines * collapseTolerance)
    return undefined;
  const start = lines.slice(0, collapsedLines).join("\n");
  if (start.length <= collapsedChars) return start.trimEnd();
  // Never between the halves of a surrogate pair; at a space when one is near.
  const cut = start.slice(0, collapsedChars).replace(/[\ud800-\udbff]$/, "");
  const space = cut.search(/\s\S{0,40}$/);
  return text.slice(0, avoidSplittingLink(text, space > 0 ? space : cut.length)).trimEnd();
};
