import { type Message, wordsOf } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { foldText } from "#contract/text.ts";
import type { SearchResult } from "#contract/wire/commands.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { MessageRow, Store } from "#sync/store/database.ts";
import { toMessageRow } from "#sync/store/row-mapping.ts";
import type { Tab } from "#sync/tabs/tab.ts";

export type FoundMessage = {
  key: string;
  seq: number;
  at: number;
  sender: number;
  mine: boolean;
  body: MessageRow["body"];
};

/** The same key as the message has in its chat. */
export const messageKey = ({ cid, seq }: { cid?: Uuid | undefined; seq: number }): string => cid ?? `#${seq}`;

const toFound = (row: MessageRow): FoundMessage => ({
  key: messageKey(row),
  seq: row.seq,
  at: row.at,
  sender: row.sender,
  mine: row.mine === 1,
  body: row.body,
});

const searchHere = async (
  store: Store,
  conversation: ConversationId,
  needle: string,
  signal: AbortSignal | undefined,
) => {
  const found: MessageRow[] = [];
  await store
    .range(conversation, 1)
    .reverse()
    .until(() => signal?.aborted ?? false)
    .each((row) => {
      if (foldText(wordsOf(row.body)).includes(needle)) found.push(row);
    });
  return found;
};

/** Looks through what is held here, then by pages through the rest of the history on the server. */
export const search = async (
  tab: Tab,
  conversation: ConversationId,
  query: string,
  onResults: (found: FoundMessage[]) => void,
  signal?: AbortSignal,
): Promise<{ complete: boolean }> => {
  const context = tab.context.get();
  const needle = foldText(query.trim());
  if (!context || needle === "") return { complete: true };
  const found = new Map<number, FoundMessage>();
  const show = (rows: MessageRow[]) => {
    for (const row of rows) found.set(row.seq, toFound(row));
    if (!signal?.aborted) onResults([...found.values()].sort((a, b) => b.seq - a.seq));
  };
  const row = await context.store.conversations.get(conversation);
  show(await searchHere(context.store, conversation, needle, signal));
  if (!row || row.head <= row.hidden) return { complete: true };
  // Everything from `lo` on was looked through, unless the newest part is missing here.
  let before: number | null = row.hi >= row.head ? row.lo : row.head + 1;
  if (before <= row.hidden + 1) return { complete: true };
  while (before !== null && !signal?.aborted) {
    try {
      const page: SearchResult = await tab.ask({ type: "search", conversation, query: query.trim(), before }, signal);
      show(page.messages.map((message: Message) => toMessageRow(row, context.me, message)));
      if (page.before !== null && page.before >= before) break; // no way forward
      before = page.before;
    } catch (error) {
      if (!(error instanceof SyncError)) throw error;
      const { code, retryAfterMs } = error;
      if (code !== "rate_limited" || retryAfterMs === undefined) return { complete: false };
      // A long history is looked through at the server's pace.
      await new Promise<void>((resolve) => tab.platform.after(retryAfterMs, resolve));
    }
  }
  return { complete: before === null };
};
