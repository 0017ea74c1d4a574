import type { ConversationId } from "../../../contract/ids";

/**
 * What was typed and not yet sent, kept for as long as the tab lives so that looking something up elsewhere
 * loses nothing. Storage may be full or forbidden: then the draft lives only as long as its screen.
 */
const keyOf = (conversation: ConversationId): string => `draft:${conversation}`;

export const readDraft = (conversation: ConversationId): string => {
  try {
    return sessionStorage.getItem(keyOf(conversation)) ?? "";
  } catch {
    return "";
  }
};

export const writeDraft = (conversation: ConversationId, text: string): void => {
  try {
    if (text === "") sessionStorage.removeItem(keyOf(conversation));
    else sessionStorage.setItem(keyOf(conversation), text);
  } catch {
    // The text is still in the composer.
  }
};
