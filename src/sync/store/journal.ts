import * as v from "valibot";
import type { Uuid } from "#contract/ids.ts";
import { audiences } from "#contract/settings/settings.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { toStoreName } from "./database.ts";

/**
 * Journal in localStorage of what is written beside files: a copy that is written when the page is left, because
 * IndexedDB commits later. Texts have a journal of their own (`src/lib/unsent/unsent-journal.ts`).
 */
type JournalScope = { platform: Pick<Platform, "localStorage">; me: Uuid };

/** Text of a draft with attachments, and the audience chosen for it if it is a status. */
const DraftInput = v.object({ text: v.string(), audience: v.optional(v.picklist(audiences)) });
type DraftInput = v.InferOutput<typeof DraftInput>;

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
