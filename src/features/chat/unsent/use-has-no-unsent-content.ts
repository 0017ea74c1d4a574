import { useEffect, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { waitForRecordingLock } from "#features/chat/voice/recording-lock.ts";
import { hasUnsentContent, readLatestDraft, waitUntilAttachmentDraftsReleased } from "#sync/actions.ts";

/** A composer that is just taken away lets go of what was chosen and recorded in it once all of it is kept. */
const hasNoUnsentContent = async (conversation: ConversationId): Promise<boolean> => {
  await waitUntilAttachmentDraftsReleased(conversation).catch(() => undefined); // without its code nothing was chosen
  await waitForRecordingLock(conversation);
  return (await readLatestDraft(conversation)).trim() === "" && !(await hasUnsentContent(conversation));
};

/** Whether nothing is left of what was begun there: `seemsSo` is what the store showed last, and is looked into. */
export const useHasNoUnsentContent = (conversation: ConversationId, seemsSo: boolean): boolean => {
  const [isBare, setBare] = useState(false);
  useEffect(() => {
    setBare(false);
    if (!seemsSo) return;
    let isCurrent = true;
    hasNoUnsentContent(conversation).then(
      (isNothing) => isCurrent && setBare(isNothing),
      (error: unknown) => console.warn("what was begun cannot be read", error),
    );
    return () => {
      isCurrent = false;
    };
  }, [conversation, seemsSo]);
  return isBare && seemsSo;
};
