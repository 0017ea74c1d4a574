import * as v from "valibot";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { Seq } from "#contract/messages/positions.ts";
import { audiences } from "#contract/settings/settings.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { ReplyTarget } from "#sync/unsent/draft-row.ts";
import { toStoreName } from "./database.ts";

/**
 * Write-ahead journal in localStorage: a synchronous copy of sent texts and of what is written beside files. A sent text
 * is kept until the server has it. IndexedDB commits later, the page may close first, and browsers may delete the
 * database. Text drafts have a journal of their own (`src/lib/unsent/unsent-journal.ts`).
 */
type JournalScope = { platform: Pick<Platform, "localStorage" | "now">; me: Uuid };

/** Place in the log of a text that the inline script of a first view sent (`src/first-view/script/early-sender.ts`). */
const StoredPlace = v.object({ epoch: v.string(), seq: Seq, at: v.number() });
export type StoredPlace = v.InferOutput<typeof StoredPlace>;

const JournaledText = v.object({
  conversation: ConversationId,
  text: v.string(),
  at: v.number(),
  n: v.number(),
  reply: v.optional(ReplyTarget),
  /** Draft that a first view continued and sent as this text. */
  draft: v.optional(v.string()),
  stored: v.optional(StoredPlace),
});
/** Sent text without its journal metadata. */
export type JournaledText = Pick<
  v.InferOutput<typeof JournaledText>,
  "conversation" | "text" | "reply" | "draft" | "stored"
> & {
  cid: Uuid;
};

/** Text of a draft with attachments, and the audience chosen for it if it is a status. */
const DraftInput = v.object({ text: v.string(), audience: v.optional(v.picklist(audiences)) });
type DraftInput = v.InferOutput<typeof DraftInput>;

const toSentKeyPrefix = (me: Uuid) => `${toStoreName(me)}-sent-`;
const toDraftInputKey = (me: Uuid, key: string) => `${toStoreName(me)}-input-${key}`;
/** Earlier versions journaled the text alone. */
const toDraftTextKey = (me: Uuid, key: string) => `${toStoreName(me)}-begun-${key}`;

const parseJournalEntry = (text: string | null | undefined): unknown => {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return undefined;
  }
};

const writeJournalEntry = ({ localStorage }: Pick<Platform, "localStorage">, key: string, text: string): boolean => {
  try {
    localStorage?.setItem(key, text);
    return localStorage !== undefined;
  } catch {
    return false; // quota exceeded or access denied: only IndexedDB has it
  }
};

/** Entries whose key starts with `prefix`, by the rest of the key. */
const listJournalEntries = ({ platform: { localStorage } }: JournalScope, prefix: string): [string, string][] =>
  Array.from({ length: localStorage?.length ?? 0 }, (_, index) => localStorage?.key(index) ?? "")
    .filter((key) => key.startsWith(prefix))
    .map((key) => [key.slice(prefix.length), localStorage?.getItem(key) ?? ""]);

/** Journals a sent text until the server has it. Returns false if it could not be written. */
export const journalSentText = (scope: JournalScope, { cid, conversation, text, reply }: JournaledText): boolean => {
  const n = (listSentTexts(scope).at(-1)?.n ?? 0) + 1;
  const entry = { conversation, text, reply, at: scope.platform.now(), n } satisfies v.InferOutput<
    typeof JournaledText
  >;
  return writeJournalEntry(scope.platform, toSentKeyPrefix(scope.me) + cid, JSON.stringify(entry));
};

export const clearSentText = ({ platform, me }: JournalScope, cid: Uuid): void =>
  platform.localStorage?.removeItem(toSentKeyPrefix(me) + cid);

/** Journaled texts in writing order (`n`), which the clock does not tell: it may have been set back since. */
export const listSentTexts = (scope: JournalScope): (JournaledText & { n: number })[] =>
  listJournalEntries(scope, toSentKeyPrefix(scope.me))
    .flatMap(([id, text]) => {
      const cid = v.safeParse(Uuid, id);
      const entry = v.safeParse(JournaledText, parseJournalEntry(text));
      return cid.success && entry.success ? { cid: cid.output, ...entry.output } : [];
    })
    .sort((a, b) => a.n - b.n || a.at - b.at);

/** Journals what was written in a draft with attachments, by its slot key, when its page is left. */
export const journalDraftInput = ({ platform, me }: JournalScope, key: string, input: DraftInput): void =>
  void writeJournalEntry(platform, toDraftInputKey(me, key), JSON.stringify(input));

export const readJournaledDraftInput = ({ platform, me }: JournalScope, key: string): DraftInput | undefined => {
  const input = v.safeParse(DraftInput, parseJournalEntry(platform.localStorage?.getItem(toDraftInputKey(me, key))));
  if (input.success) return input.output;
  const text = platform.localStorage?.getItem(toDraftTextKey(me, key)) ?? undefined;
  return text === undefined ? undefined : { text };
};

export const clearJournaledDraftInput = ({ platform, me }: JournalScope, key: string): void => {
  platform.localStorage?.removeItem(toDraftInputKey(me, key));
  platform.localStorage?.removeItem(toDraftTextKey(me, key));
};

/** Removes every entry of this person, whichever module wrote it. */
export const purgeJournal = (scope: JournalScope): void => {
  const prefix = `${toStoreName(scope.me)}-`;
  for (const [rest] of listJournalEntries(scope, prefix)) scope.platform.localStorage?.removeItem(prefix + rest);
};
