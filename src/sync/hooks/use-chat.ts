import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { messagePageRows } from "#contract/limits/conversations.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import {
  extendWindow,
  fetchOlderMessages,
  type MessageWindow,
  readWindowAround,
} from "#sync/queries/message-window.ts";
import { chatQuery } from "#sync/queries/screen-queries.ts";
import type { ChatView } from "#sync/store/view-models.ts";
import { emptySource, useEngine, useLiveQuery } from "./use-live-query.ts";

export type { ChatItem, ChatView } from "#sync/store/view-models.ts";

/**
 * The newest messages of a conversation. `loadOlder` shows one more page and fetches it from the server once all stored
 * messages are shown; it rejects with a SyncError.
 */
export const useChat = (id: ConversationId | undefined): ChatView | undefined => {
  const [window, setWindow] = useState({ id, limit: messagePageRows });
  const limit = window.id === id ? window.limit : messagePageRows;
  const [isLoading, setIsLoading] = useState(false);
  const engine = useEngine();
  // A longer window is never reused, so it is not kept alive: otherwise many of them would be read at each new page.
  const keepsAlive = limit === messagePageRows;
  const chat = useLiveQuery(...chatQuery(id, limit), keepsAlive);
  const [shown, setShown] = useState({ id, chat });
  // Keep the shorter window while a longer one is read.
  if (chat && (shown.chat !== chat || shown.id !== id)) setShown({ id, chat });
  const current = chat ?? (shown.id === id ? shown.chat : undefined);
  // The previous window does not say whether more is needed; with it the limit would grow faster than reads finish.
  const isReading = chat === undefined;

  useEffect(() => {
    if (engine && id) engine.client.prioritizeConversation(id);
  }, [engine, id]);

  const hasMoreLocally = current?.hasMoreLocally ?? false;
  const hasMoreOnServer = current?.hasMoreOnServer ?? false;
  const loadOlder = useCallback(async () => {
    if (!engine || !id || isReading || (!hasMoreLocally && !hasMoreOnServer)) return;
    setIsLoading(true);
    try {
      if (!hasMoreLocally) await fetchOlderMessages(engine.client, id);
      setWindow((before) => ({ id, limit: (before.id === id ? before.limit : messagePageRows) + messagePageRows }));
    } finally {
      setIsLoading(false);
    }
  }, [engine, id, isReading, hasMoreLocally, hasMoreOnServer]);

  return useMemo(
    () =>
      current && {
        items: current.items,
        hasOlder: hasMoreLocally || hasMoreOnServer,
        loading: isLoading || isReading || current.isNotLoadedYet,
        loadOlder,
      },
    [current, hasMoreLocally, hasMoreOnServer, isLoading, isReading, loadOlder],
  );
};

const noTypingMembers: readonly number[] = [];

/** Numbers of the members typing in a conversation, in the order they started. */
export const useTypingMembers = (conversation: ConversationId): readonly number[] => {
  const engine = useEngine();
  const members = engine?.client.typing.members;
  return useSyncExternalStore(
    members?.subscribe ?? emptySource.subscribe,
    () => members?.get().get(conversation) ?? noTypingMembers,
    () => noTypingMembers,
  );
};

/** Window of older messages, which can be extended in both directions. It is not stored on the device. */
export type ChatHistory = ChatView & { hasNewer: boolean; loadNewer(): Promise<void> };

const offlineJumpMs = 1_000; // time to read messages that are on this device

type HistoryWindow = { seq: number; messages: MessageWindow };

/**
 * Messages around `seq`, which may be older than all stored messages. Undefined while they are fetched; `onFailure`
 * receives the SyncError of a failed fetch, soon without a network.
 */
export const useChatHistory = (
  id: ConversationId,
  seq: number | undefined,
  isOffline: boolean,
  onFailure: (error: unknown) => void,
): ChatHistory | undefined => {
  const engine = useEngine();
  const [historyWindow, setHistoryWindow] = useState<HistoryWindow>();
  const [isLoading, setIsLoading] = useState(false);
  const latestOnFailure = useRef(onFailure);
  latestOnFailure.current = onFailure;

  useEffect(() => {
    setHistoryWindow(undefined);
    if (!engine || seq === undefined) return;
    let isCurrent = true;
    readWindowAround(engine.client, id, seq).then(
      (messages) => isCurrent && setHistoryWindow({ seq, messages }),
      (error: unknown) => isCurrent && latestOnFailure.current(error),
    );
    return () => {
      isCurrent = false;
    };
  }, [engine, id, seq]);

  const isWaitingForNetwork = isOffline && seq !== undefined && historyWindow?.seq !== seq;
  useEffect(() => {
    if (!isWaitingForNetwork) return;
    const timer = setTimeout(() => latestOnFailure.current(new SyncError("offline")), offlineJumpMs);
    return () => clearTimeout(timer);
  }, [isWaitingForNetwork]);

  const load = useCallback(
    async (direction: "before" | "after") => {
      if (!engine || !historyWindow) return;
      setIsLoading(true);
      try {
        const messages = await extendWindow(engine.client, id, historyWindow.messages, direction);
        setHistoryWindow((now) => (now === historyWindow ? { seq: historyWindow.seq, messages } : now));
      } finally {
        setIsLoading(false);
      }
    },
    [engine, id, historyWindow],
  );

  return useMemo(
    () =>
      historyWindow && historyWindow.seq === seq
        ? {
            ...historyWindow.messages,
            loading: isLoading,
            loadOlder: () => load("before"),
            loadNewer: () => load("after"),
          }
        : undefined,
    [historyWindow, seq, isLoading, load],
  );
};
