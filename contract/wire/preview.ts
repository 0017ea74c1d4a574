import { previewMaxLength } from "#contract/limits/messages.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { withMentions } from "#contract/messages/mentions.ts";
import { isBlank } from "#contract/text.ts";

/** Index of the first visible character, or 0 if there is none. */
const findVisibleStart = (text: string): number => {
  let start = 0;
  for (const char of text) {
    if (!isBlank(char)) return start;
    start += char.length;
  }
  return 0;
};

/** First characters of a text, without leading blanks if they would be all. Never splits a surrogate pair. */
const cutPreviewText = (text: string): string => {
  const visible = isBlank(text.slice(0, previewMaxLength)) ? text.slice(findVisibleStart(text)) : text;
  const lastUnit = visible.charCodeAt(previewMaxLength - 1);
  const isHighSurrogate = lastUnit >= 0xd800 && lastUnit <= 0xdbff;
  return visible.slice(0, isHighSurrogate ? previewMaxLength - 1 : previewMaxLength);
};

/** Body of a message for the conversation list. `whole` is false if its text was cut; it then has no mentions. */
export const toPreview = (body: StoredBody): { preview: StoredBody; whole: boolean } =>
  "text" in body && body.text !== undefined && body.text.length > previewMaxLength
    ? { preview: { ...withMentions(body, []), text: cutPreviewText(body.text) }, whole: false }
    : { preview: body, whole: true };
