import { useEffect, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { readLatestDraft } from "#sync/actions/drafts.ts";
import { hasUnsentContent } from "#sync/actions/unsent-content.ts";

const hasNoUnsentContent = async (conversation: ConversationId): Promise<boolean> =>
  readLatestDraft(conversation) === "" && !(await hasUnsentContent(conversation));

/** Whether the chat has no unsent draft, files or recording. Read only while the live queries suggest it. */
export const useHasNoUnsentContent = (conversation: ConversationId, seemsEmpty: boolean): boolean => {
  const [isEmpty, setEmpty] = useState(false);
  useEffect(() => {
    setEmpty(false);
    if (!seemsEmpty) return;
    let isCurrent = true;
    hasNoUnsentContent(conversation).then(
      (hasNothing) => isCurrent && setEmpty(hasNothing),
      (error: unknown) => console.warn("the unsent content cannot be read", error),
    );
    return () => {
      isCurrent = false;
    };
  }, [conversation, seemsEmpty]);
  return isEmpty && seemsEmpty;
};
