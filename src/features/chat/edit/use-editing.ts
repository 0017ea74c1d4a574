import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { ChatItem, ChatView } from "#sync/hooks/use-chat.ts";
import { canBeEdited } from "./edit-context.ts";

/** Message that is edited in a chat, undefined if there is none, and the functions that start and end an edit. */
export const useEditing = (
  chat: ChatView | undefined,
  canWrite: boolean,
  composer: RefObject<{ focus(): void } | null>,
) => {
  const [started, setStarted] = useState<ChatItem>();
  const wasEditing = useRef(false);
  // The message field can take the focus only once it is shown again.
  useEffect(() => {
    if (wasEditing.current && !started) composer.current?.focus();
    wasEditing.current = started !== undefined;
  }, [started, composer]);
  return {
    edited: canWrite && started ? (chat?.items.find(({ key }) => key === started.key) ?? started) : undefined,
    start: canWrite ? setStarted : undefined,
    startLast: () => setStarted(chat?.items.find(canBeEdited)),
    stop: useCallback(() => setStarted(undefined), []),
  };
};
