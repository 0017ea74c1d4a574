import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { extendWindow, type MessageWindow, readWindowAround } from "#sync/queries/message-window.ts";
import type { ChatView } from "#sync/store/view-models.ts";
import { useEngine } from "./use-live-query.ts";

/** Window of older messages, which can be extended in both directions. It is not stored on the device. */
export type ChatHistory = ChatView & { hasNewer: boolean; loadNewer(): Promise<void> };

type HistoryWindow = { seq: number; messages: MessageWindow };

/**
 * Messages around `seq`, which may be older than all stored messages. Undefined while they are fetched; `onFailure`
 * receives the SyncError of a failed fetch.
 */
export const useChatHistory = (
  id: ConversationId,
  seq: number | undefined,
  onFailure: (error: unknown) => void,
): ChatHistory | undefined => {
  const sync = useEngine();
  const [historyWindow, setHistoryWindow] = useState<HistoryWindow>();
  const [isLoading, setIsLoading] = useState(false);
  const latestOnFailure = useRef(onFailure);
  latestOnFailure.current = onFailure;

  useEffect(() => {
    setHistoryWindow(undefined);
    if (!sync || seq === undefined) return;
    let isCurrent = true;
    readWindowAround(sync.tab, id, seq).then(
      (messages) => isCurrent && setHistoryWindow({ seq, messages }),
      (error: unknown) => isCurrent && latestOnFailure.current(error),
    );
    return () => {
      isCurrent = false;
    };
  }, [sync, id, seq]);

  const load = useCallback(
    async (direction: "before" | "after") => {
      if (!sync || !historyWindow) return;
      setIsLoading(true);
      try {
        const messages = await extendWindow(sync.tab, id, historyWindow.messages, direction);
        setHistoryWindow((now) => (now === historyWindow ? { seq: historyWindow.seq, messages } : now));
      } finally {
        setIsLoading(false);
      }
    },
    [sync, id, historyWindow],
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
