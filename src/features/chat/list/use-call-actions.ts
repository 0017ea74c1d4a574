import { type RefObject, useMemo, useRef } from "react";
import type { ComposerHandle } from "#features/chat/composer/composer.tsx";
import type { ChatCallActions } from "#features/chat/message/call-actions-context.ts";

/** Call actions with a stable identity, so that a new `callBack` does not re-render the context consumers. */
export const useCallActions = (
  callBack: ChatCallActions["callBack"] | undefined,
  composer: RefObject<ComposerHandle | null> | undefined,
): ChatCallActions | undefined => {
  const latest = useRef(callBack);
  latest.current = callBack;
  const canCall = callBack !== undefined;
  return useMemo(
    () =>
      canCall
        ? {
            callBack: (kind) => latest.current?.(kind),
            startRecording: composer && (() => composer.current?.startRecording()),
          }
        : undefined,
    [canCall, composer],
  );
};
