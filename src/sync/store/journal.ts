import * as v from "valibot";
import { ConversationId, Uuid } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { storeName } from "./database.ts";

/**
 * Synchronous copy of unsent texts and drafts besides IndexedDB. A sent text is kept until the server has it, a draft as
 * long as it exists. IndexedDB commits later, the page may close first, and browsers may delete the database.
 */
type Place = { platform: Pick<Platform, "notes" | "now">; me: Uuid };

const Jotted = v.object({ conversation: ConversationId, text: v.string(), at: v.number(), n: v.number() });
export type Jotted = Pick<v.InferOutput<typeof Jotted>, "conversation" | "text"> & { cid: Uuid };

const sentPrefix = (me: Uuid) => `${storeName(me)}-sent-`;
const draftPrefix = (me: Uuid) => `${storeName(me)}-draft-`;
const begunPrefix = (me: Uuid) => `${storeName(me)}-begun-`;

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const write = ({ notes }: Pick<Platform, "notes">, key: string, text: string): boolean => {
  try {
    notes?.setItem(key, text);
    return notes !== undefined;
  } catch {
    return false; // no room, or forbidden: the store alone has to do
  }
};

/** What stands under keys that begin so, by what follows in them. */
const list = ({ platform: { notes } }: Place, prefix: string): [string, string][] =>
  Array.from({ length: notes?.length ?? 0 }, (_, index) => notes?.key(index) ?? "")
    .filter((key) => key.startsWith(prefix))
    .map((key) => [key.slice(prefix.length), notes?.getItem(key) ?? ""]);

/** A text that was sent and that the server does not have yet. False when it could not be noted. */
export const jotSent = (place: Place, { cid, conversation, text }: Jotted): boolean => {
  const n = (listSent(place).at(-1)?.n ?? 0) + 1;
  const note = { conversation, text, at: place.platform.now(), n } satisfies v.InferOutput<typeof Jotted>;
  return write(place.platform, sentPrefix(place.me) + cid, JSON.stringify(note));
};

export const strikeSent = ({ platform, me }: Place, cid: Uuid): void =>
  platform.notes?.removeItem(sentPrefix(me) + cid);

/** In the order they were written, which the clock does not tell: it may have been set back since. */
export const listSent = (place: Place): (Jotted & { n: number })[] =>
  list(place, sentPrefix(place.me))
    .flatMap(([id, text]) => {
      const cid = v.safeParse(Uuid, id);
      const jotted = v.safeParse(Jotted, parseJson(text));
      return cid.success && jotted.success ? { cid: cid.output, ...jotted.output } : [];
    })
    .sort((a, b) => a.n - b.n || a.at - b.at);

/** What is typed; empty when that is nothing any more and the store does not know it yet. What cannot be noted leaves nothing older. */
export const jotDraft = ({ platform, me }: Place, conversation: ConversationId, text: string): void => {
  if (!write(platform, draftPrefix(me) + conversation, text)) strikeDraft({ platform, me }, conversation);
};

export const strikeDraft = ({ platform, me }: Place, conversation: ConversationId): void =>
  platform.notes?.removeItem(draftPrefix(me) + conversation);

export const listDrafts = (place: Place): [ConversationId, string][] =>
  list(place, draftPrefix(place.me)).filter((entry): entry is [ConversationId, string] =>
    v.is(ConversationId, entry[0]),
  );

/** What is written beside what is chosen, by the key it is kept under, when its page is left. */
export const jotBegun = ({ platform, me }: Place, key: string, text: string): void =>
  void write(platform, begunPrefix(me) + key, text);

export const readBegun = ({ platform, me }: Place, key: string): string | undefined =>
  platform.notes?.getItem(begunPrefix(me) + key) ?? undefined;

export const strikeBegun = ({ platform, me }: Place, key: string): void =>
  platform.notes?.removeItem(begunPrefix(me) + key);

/** Removes every entry of this person, whichever module wrote it. */
export const dropJotted = (place: Place): void => {
  const prefix = `${storeName(place.me)}-`;
  for (const [rest] of list(place, prefix)) place.platform.notes?.removeItem(prefix + rest);
};
