import { toParts } from "#lib/text/links.ts";

const foldLines = 20;
const foldChars = 1_200;
const slack = 1.2; // for a little more it is not worth a tap
const phoneMaxChars = 32; // with the spaces in it; no other link has any

/** The same place, or the beginning of the link around it: half an address would lead elsewhere. */
const besideLink = (text: string, at: number): number => {
  // What stands behind the link is not looked at: there may be much of it.
  const space = text.slice(at + phoneMaxChars).search(/\s/);
  const near = space === -1 ? text : text.slice(0, at + phoneMaxChars + space);
  let start = 0;
  for (const part of toParts(near)) {
    const end = start + (typeof part === "string" ? part : part.text).length;
    if (end > at) return typeof part === "string" ? at : start || end;
    start = end;
  }
  return at;
};

/** The beginning of a long text, cut between words; undefined when the text is short enough to stand whole. */
export const foldText = (text: string): string | undefined => {
  const lines = text.split("\n");
  if (text.length <= foldChars * slack && lines.length <= foldLines * slack) return undefined;
  const start = lines.slice(0, foldLines).join("\n");
  if (start.length <= foldChars) return start.trimEnd();
  // Never between the halves of a surrogate pair; at a space when one is near.
  const cut = start.slice(0, foldChars).replace(/[\ud800-\udbff]$/, "");
  const space = cut.search(/\s\S{0,40}$/);
  return text.slice(0, besideLink(text, space > 0 ? space : cut.length)).trimEnd();
};
