import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { activeEngine } from "#sync/engine.ts";
import { extendWindow, type MessageWindow, readWindowAround } from "#sync/queries/message-window.ts";
import type { ChatView } from "#sync/store/view-models.ts";

/** A look at the past: like a chat, but with an end towards the present too. It is not kept on the phone. */
export type ChatHistory = ChatView & { hasNewer: boolean; loadNewer(): Promise<void> };

type HistoryWindow = { seq: number; stretch: MessageWindow };

/**
 * The messages around a place that may be far from what this phone holds. Undefined while it is fetched;
 * `onFailure` is told the SyncError when it cannot be.
 */
export const useChatHistory = (
  id: ConversationId,
  seq: number | undefined,
  onFailure: (error: unknown) => void,
): ChatHistory | undefined => {
  const sync = useSyncExternalStore(activeEngine.subscribe, activeEngine.get, () => undefined);
  const [look, setLook] = useState<HistoryWindow>();
  const [isLoading, setIsLoading] = useState(false);
  const whenFailed = useRef(onFailure);
  whenFailed.current = onFailure;

  useEffect(() => {
    setLook(undefined);
    if (!sync || seq === undefined) return;
    let isWanted = true;
    readWindowAround(sync.tab, id, seq).then(
      (stretch) => isWanted && setLook({ seq, stretch }),
      (error: unknown) => isWanted && whenFailed.current(error),
    );
    return () => {
      isWanted = false;
    };
  }, [sync, id, seq]);

  const load = useCallback(
    async (direction: "before" | "after") => {
      if (!sync || !look) return;
      setIsLoading(true);
      try {
        const stretch = await extendWindow(sync.tab, id, look.stretch, direction);
        setLook((now) => (now === look ? { seq: look.seq, stretch } : now));
      } finally {
        setIsLoading(false);
      }
    },
    [sync, id, look],
  );

  return useMemo(
    () =>
      look && look.seq === seq
        ? {
            ...look.stretch,
            loading: isLoading,
            loadOlder: () => load("before"),
            loadNewer: () => load("after"),
          }
        : undefined,
    [look, seq, isLoading, load],
  );
};
