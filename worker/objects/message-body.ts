import * as v from "valibot";
import { StoredBody } from "../../contract/conversations";
import { previewMaxLength } from "../../contract/limits";

/** How a body is stored: a text as it is, so that a search need not parse it, any other kind as JSON. */
export const toColumns = (body: StoredBody): { kind: string; body: string } =>
  body.type === "text" ? { kind: "text", body: body.text } : { kind: body.type, body: JSON.stringify(body) };

export const fromColumns = (kind: string, body: string): StoredBody =>
  kind === "text" ? { type: "text", text: body } : v.parse(StoredBody, JSON.parse(body));

/** The beginning of a text, never ending in half a character. */
const cut = (text: string): string => {
  const last = text.charCodeAt(previewMaxLength - 1);
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHighSurrogate ? previewMaxLength - 1 : previewMaxLength);
};

/** What the conversation list shows of a message, and whether that is all of it. */
export const toPreview = (body: StoredBody): { preview: StoredBody; whole: boolean } =>
  body.type === "text" && body.text.length > previewMaxLength
    ? { preview: { type: "text", text: cut(body.text) }, whole: false }
    : { preview: body, whole: true };
