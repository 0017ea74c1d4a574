import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { running } from "#sync/engine.ts";
import { lengthen, readAround, type Stretch } from "#sync/queries/history.ts";
import type { ChatView } from "#sync/store/views.ts";

/** A look at the past: like a chat, but with an end towards the present too. It is not kept on the phone. */
export type ChatAround = ChatView & { hasNewer: boolean; loadNewer(): Promise<void> };

type Look = { seq: number; stretch: Stretch };

/**
 * The messages around a place that may be far from what this phone holds. Undefined while it is fetched;
 * `onFailure` is told the SyncError when it cannot be.
 */
export const useChatAround = (
  id: ConversationId,
  seq: number | undefined,
  onFailure: (error: unknown) => void,
): ChatAround | undefined => {
  const sync = useSyncExternalStore(running.subscribe, running.get, () => undefined);
  const [look, setLook] = useState<Look>();
  const [isLoading, setIsLoading] = useState(false);
  const whenFailed = useRef(onFailure);
  whenFailed.current = onFailure;

  useEffect(() => {
    setLook(undefined);
    if (!sync || seq === undefined) return;
    let isWanted = true;
    readAround(sync.tab, id, seq).then(
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
        const stretch = await lengthen(sync.tab, id, look.stretch, direction);
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
