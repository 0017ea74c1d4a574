import * as v from "valibot";
import { mentionsListedMax } from "#contract/limits/conversations.ts";
import { mentionsMax } from "#contract/limits/groups.ts";

/**
 * Mentions in the text of a group message: offset and length in UTF-16 units, and the number of the mentioned member;
 * without it everyone is mentioned. Arrays, because the types of RPC know no tuples. The server checks the values
 * (`areMentionsValid`).
 */
export const Mentions = v.array(v.array(v.number()));
export type Mention = [offset: number, length: number] | [offset: number, length: number, member: number];

/** Body of a message, which may carry mentions. */
type MessageBody = { type: string; text?: string | undefined; mentions?: number[][] | undefined };

/** Mentions in the text or caption of a message, in the order of the text. */
export const findMentions = ({ mentions = [] }: MessageBody): readonly Mention[] => mentions as Mention[];

const isNaturalNumber = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** Whether a body has no list of mentions, or a list of valid ones inside its text, in order and without overlap. */
export const areMentionsValid = (body: MessageBody): boolean => {
  const { text = "", mentions } = body;
  if (!mentions) return true;
  const isShaped = mentions.every((mention) => [2, 3].includes(mention.length) && mention.every(isNaturalNumber));
  let end = 0;
  const areInText = findMentions(body).every(([offset, length]) => {
    const isInside = offset >= end && length > 0 && offset + length <= text.length;
    end = offset + length;
    return isInside;
  });
  return mentions.length > 0 && mentions.length <= mentionsMax && isShaped && areInText;
};

/** The body with these mentions, without the field if there are none. */
export const withMentions = <T extends MessageBody>(body: T, mentions: readonly Mention[]): T => {
  const { mentions: _before, ...content } = body as T & { mentions?: unknown };
  return (mentions.length > 0 ? { ...content, mentions } : content) as T;
};

/**
 * Mentions of an edited text, at the places of the names in the new text. A mention whose words are gone ends, and an
 * edit adds none.
 */
export const keepMentions = (body: MessageBody, text: string): Mention[] => {
  let from = 0;
  return findMentions(body).flatMap(([offset, length, ...who]): Mention[] => {
    const start = text.indexOf((body.text ?? "").slice(offset, offset + length), from);
    if (start < 0) return [];
    from = start + length;
    return [[start, length, ...who]];
  });
};

/** Whether a body mentions a member. */
export const isMentionOf = (body: MessageBody, member: number | undefined): boolean =>
  member !== undefined && findMentions(body).some(([, , who = member]) => who === member);

/** Own member number, and the seqs up to which the messages of a group are read and cleared. */
type MentionReader = { read: number; hidden: number; group: { number: number } | null };

/**
 * Seqs of unread mentions after messages were added or changed, or more was read, at most the newest ones. The server
 * and the devices derive them in the same way.
 */
export const deriveMentions = (
  before: readonly number[],
  { group, read, hidden }: MentionReader,
  messages: readonly { seq: number; sender: number; body: MessageBody }[] = [],
): number[] => {
  const seqs = new Set(before);
  for (const { seq, sender, body } of messages)
    seqs[sender !== group?.number && isMentionOf(body, group?.number) ? "add" : "delete"](seq);
  return [...seqs]
    .filter((seq) => seq > Math.max(read, hidden))
    .sort((a, b) => a - b)
    .slice(-mentionsListedMax);
};
