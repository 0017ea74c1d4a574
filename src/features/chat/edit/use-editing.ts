import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { readNewestMessages } from "#sync/actions.ts";
import type { ChatItem, ChatView } from "#sync/hooks/use-chat.ts";
import { canBeEdited } from "./edit-context.ts";

/** Message that is edited in a chat, undefined if there is none, and the functions that start and end an edit. */
export const useEditing = (
  conversation: ConversationId,
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
    // From the store: a message that was just sent may not be shown yet.
    startLast: async () => setStarted((await readNewestMessages(conversation)).find(canBeEdited)),
    stop: useCallback(() => setStarted(undefined), []),
  };
};
