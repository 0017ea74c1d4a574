import { type RefObject, useMemo } from "react";
import { useStableCallback } from "#components/layout/use-stable-callback.ts";
import type { CallKind } from "#contract/calls/call.ts";
import type { ComposerHandle } from "#features/chat/composer/composer.tsx";
import type { ChatCallActions } from "#features/chat/message/call-actions-context.ts";

/** Call actions with a stable identity, so that a new `callBack` does not re-render the context consumers. */
export const useCallActions = (
  callBack: ChatCallActions["callBack"] | undefined,
  composer: RefObject<ComposerHandle | null> | undefined,
): ChatCallActions | undefined => {
  const call = useStableCallback((kind: CallKind) => callBack?.(kind));
  const canCall = callBack !== undefined;
  return useMemo(
    () =>
      canCall
        ? {
            callBack: call,
            startRecording: composer && (() => composer.current?.startRecording()),
          }
        : undefined,
    [canCall, call, composer],
  );
};
