import * as v from "valibot";
import { StoredBody } from "#contract/conversations.ts";
import { previewMaxLength } from "#contract/limits.ts";
import { isBlank } from "#contract/text.ts";

const forwardedText = "forwarded";

/** How a body is stored: a text as it is, so that a search need not parse it, anything else as JSON. */
export const toBodyColumns = (body: StoredBody): { kind: string; body: string } => {
  // Of calls only those that were missed wait to be read, and are counted by their kind.
  if (body.type === "call" && body.status === "missed") return { kind: "missed", body: JSON.stringify(body) };
  if (body.type !== "text") return { kind: body.type, body: JSON.stringify(body) };
  return body.forwarded ? { kind: forwardedText, body: JSON.stringify(body) } : { kind: "text", body: body.text };
};

export const fromBodyColumns = (kind: string, body: string): StoredBody =>
  kind === "text" ? { type: "text", text: body } : v.parse(StoredBody, JSON.parse(body));

/** Where there is something to see in a text. */
const findVisibleStart = (text: string): number => {
  let start = 0;
  for (const char of text) {
    if (!isBlank(char)) return start;
    start += char.length;
  }
  return 0;
};

/** The beginning of a text, never ending in half a character and never without anything to see. */
const cutPreviewText = (text: string): string => {
  const visible = isBlank(text.slice(0, previewMaxLength)) ? text.slice(findVisibleStart(text)) : text;
  const lastUnit = visible.charCodeAt(previewMaxLength - 1);
  const isHighSurrogate = lastUnit >= 0xd800 && lastUnit <= 0xdbff;
  return visible.slice(0, isHighSurrogate ? previewMaxLength - 1 : previewMaxLength);
};

/** What the conversation list shows of a message, and whether that is all of it. */
export const toPreview = (body: StoredBody): { preview: StoredBody; whole: boolean } =>
  "text" in body && body.text !== undefined && body.text.length > previewMaxLength
    ? { preview: { ...body, text: cutPreviewText(body.text) }, whole: false }
    : { preview: body, whole: true };
