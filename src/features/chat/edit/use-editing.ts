import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { readNewestMessages } from "#sync/actions/messages.ts";
import type { ChatItem, ChatView } from "#sync/hooks/use-chat.ts";
import { useParkedTexts } from "#sync/hooks/use-unsent.ts";
import type { ParkedText } from "#sync/unsent/draft-row.ts";
import { canBeEdited } from "./edit-context.ts";

/** The editable message to which parked words belong. */
const findEditedItem = (chat: ChatView | undefined, { target }: ParkedText): ChatItem | undefined =>
  target === undefined
    ? undefined
    : chat?.items.find((item) => (item.seq === target || item.cid === target) && canBeEdited(item));

/** Message that is edited in a chat, undefined if there is none, and the functions that start and end an edit. */
export const useEditing = (
  conversation: ConversationId,
  chat: ChatView | undefined,
  canWrite: boolean | undefined,
  composer: RefObject<{ focus(): void } | null>,
) => {
  const [started, setStarted] = useState<ChatItem>();
  const wasEditing = useRef(false);
  const parkedTexts = useParkedTexts(conversation);
  // An edit that was being typed when the chat or its page was left goes on.
  const hasResumed = useRef(false);
  useEffect(() => {
    if (!chat || !canWrite || hasResumed.current) return;
    hasResumed.current = true;
    const item = parkedTexts.flatMap((parked) => findEditedItem(chat, parked) ?? []).at(-1); // typed last
    if (item) setStarted(item);
  }, [chat, canWrite, parkedTexts]);
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
    /** Parked texts, without those of messages that can be edited here. */
    parkedTexts: chat ? parkedTexts.filter((parked) => canWrite === false || !findEditedItem(chat, parked)) : [],
    stop: useCallback(() => setStarted(undefined), []),
  };
};
