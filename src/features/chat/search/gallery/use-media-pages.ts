import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { useCurrentMessages } from "#sync/hooks/use-current-messages.ts";
import { useEngine } from "#sync/hooks/use-live-query.ts";
import { asSyncError, type FailureCode } from "#sync/platform/sync-error.ts";
import { type GalleryKind, type MediaCursor, newestMedia, readMediaPage } from "#sync/queries/media-gallery.ts";

const firstItems = 24; // shown without scrolling on a large screen: fetched at once if this device has fewer

type LoadedMedia = { items: ChatItem[]; next: MediaCursor | null; isLoading: boolean; error?: FailureCode };
const notLoaded: LoadedMedia = { items: [], next: newestMedia, isLoading: false };

export type MediaPages = Omit<LoadedMedia, "next"> & { isComplete: boolean; loadMore: () => void };

const withPage = (before: readonly ChatItem[], page: readonly ChatItem[]): ChatItem[] => {
  const items = new Map([...before, ...page].map((item) => [item.key, item]));
  return [...items.values()].sort((a, b) => (b.seq ?? 0) - (a.seq ?? 0));
};

/** Messages of a kind in a chat, newest first, from this device and then the server. A loaded kind stays loaded. */
export const useMediaPages = (conversation: ConversationId, kind: GalleryKind): MediaPages => {
  const engine = useEngine();
  const [media, setMedia] = useState<Partial<Record<GalleryKind, LoadedMedia>>>({});
  const running = useRef(new Set<GalleryKind>());
  const { items, next, isLoading, error } = media[kind] ?? notLoaded;

  const loadMore = useCallback(async () => {
    if (!engine || next === null || running.current.has(kind)) return;
    running.current.add(kind);
    const update = (change: (loaded: LoadedMedia) => LoadedMedia) =>
      setMedia((all) => ({ ...all, [kind]: change(all[kind] ?? notLoaded) }));
    update(({ items, next }) => ({ items, next, isLoading: true }));
    try {
      const page = await readMediaPage(engine.client, conversation, kind, next);
      update(({ items }) => ({ items: withPage(items, page.items), next: page.next, isLoading: false }));
    } catch (failure) {
      update(({ items, next }) => ({ items, next, isLoading: false, error: asSyncError(failure).code }));
    } finally {
      running.current.delete(kind);
    }
  }, [engine, conversation, kind, next]);
  const isShort = items.length < firstItems && next !== null && error === undefined;
  useEffect(() => {
    if (isShort) void loadMore();
  }, [isShort, loadMore]);

  const found = useMemo(() => items.map((item) => ({ ...item, conversation })), [items, conversation]);
  const current = useCurrentMessages(found);
  return {
    items: current,
    isLoading: isLoading || isShort,
    ...(error === undefined ? {} : { error }),
    isComplete: next === null,
    loadMore: () => void loadMore(),
  };
};
