import type { ConversationId } from "#contract/ids.ts";
import { searchResultsMax } from "#contract/limits/search.ts";
import { createMessageMatcher, type SearchKind } from "#contract/wire/search-filter.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalConversationRow, LocalMessageRow, LocalStore } from "#sync/store/database.ts";
import { toLocalMessageRow } from "#sync/store/row-mapping.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import type { ChatItem } from "#sync/store/view-models.ts";
import { toChatItem } from "./chat-messages.ts";
import { requestSearchPage } from "./search/message-search.ts";

const batchMessages = 500;

/** Kinds of messages that the gallery of a chat shows. */
export type GalleryKind = Extract<SearchKind, "image" | "voice" | "file" | "link">;

/** Start of the next page: among the messages on this device, or on the server. */
export type MediaCursor = { place: "device" | "server"; before: number };
export const newestMedia: MediaCursor = { place: "device", before: Number.MAX_SAFE_INTEGER };

/** Messages of a kind, newest first. `next` is null after the oldest ones. */
export type MediaPage = { items: ChatItem[]; next: MediaCursor | null };

/** Start of the first page from the server, below this device's messages, which are complete down to `storedFrom`. */
const toServerCursor = (row: LocalConversationRow): MediaCursor | null => {
  const before = row.storedTo >= row.head && row.storedFrom <= row.storedTo ? row.storedFrom : row.head + 1;
  return row.head > row.hidden && before > row.hidden + 1 ? { place: "server", before } : null;
};

const readStoredPage = async (
  store: LocalStore,
  row: LocalConversationRow,
  kind: GalleryKind,
  before: number,
): Promise<{ messages: LocalMessageRow[]; next: MediaCursor | null }> => {
  const isMatch = createMessageMatcher(undefined, { kind });
  const messages: LocalMessageRow[] = [];
  for (let to = before - 1; ; ) {
    const batch = await store
      .queryMessages(row.id, row.hidden + 1, to)
      .reverse()
      .limit(batchMessages)
      .toArray();
    for (const message of batch) {
      if (!isMatch(message)) continue;
      messages.push(message);
      if (messages.length === searchResultsMax) return { messages, next: { place: "device", before: message.seq } };
    }
    const last = batch.at(-1);
    if (!last || batch.length < batchMessages) return { messages, next: toServerCursor(row) };
    to = last.seq - 1;
  }
};

const fetchPage = async (
  port: SyncPort,
  row: LocalConversationRow,
  me: string,
  kind: GalleryKind,
  start: number,
): Promise<{ messages: LocalMessageRow[]; next: MediaCursor | null }> => {
  for (let before: number | null = start; before !== null; ) {
    const command = { type: "search", conversation: row.id, query: "", before, filter: { kind } } as const;
    const page = await requestSearchPage(port, command, undefined);
    const messages = page?.messages.map((message) => toLocalMessageRow(row, me, message)) ?? [];
    const next: number | null = page?.before ?? null;
    if (messages.length > 0) return { messages, next: next === null ? null : { place: "server", before: next } };
    if (next !== null && next >= before) break; // no progress
    before = next;
  }
  return { messages: [], next: null };
};

/** Messages of a kind from this device, then those that only the server has. Rejects with a SyncError. */
export const readMediaPage = async (
  port: SyncPort,
  conversation: ConversationId,
  kind: GalleryKind,
  { place, before }: MediaCursor,
): Promise<MediaPage> => {
  const context = port.context.get();
  const row = await context?.store.conversations.get(conversation);
  if (!context || !row) throw new SyncError("unavailable");
  const { messages, next } =
    place === "device"
      ? await readStoredPage(context.store, row, kind, before)
      : await fetchPage(port, row, context.me, kind, before);
  return { items: messages.map((message) => toChatItem(row, message)), next };
};
