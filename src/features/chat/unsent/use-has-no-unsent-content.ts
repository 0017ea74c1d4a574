import { useEffect, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { isFree } from "#features/chat/voice/recording-lock.ts";
import { choicesLetGo, hasLeftOver, readDraft } from "#sync/actions.ts";

/** A composer that is just taken away lets go of what was chosen and recorded in it once all of it is kept. */
const isNothingKept = async (conversation: ConversationId): Promise<boolean> => {
  await choicesLetGo(conversation).catch(() => undefined); // without its code nothing was chosen
  await isFree(conversation);
  return (await readDraft(conversation)).trim() === "" && !(await hasLeftOver(conversation));
};

/** Whether nothing is left of what was begun there: `seemsSo` is what the store showed last, and is looked into. */
export const useBare = (conversation: ConversationId, seemsSo: boolean): boolean => {
  const [isBare, setBare] = useState(false);
  useEffect(() => {
    setBare(false);
    if (!seemsSo) return;
    let isCurrent = true;
    isNothingKept(conversation).then(
      (isNothing) => isCurrent && setBare(isNothing),
      (error: unknown) => console.warn("what was begun cannot be read", error),
    );
    return () => {
      isCurrent = false;
    };
  }, [conversation, seemsSo]);
  return isBare && seemsSo;
};
