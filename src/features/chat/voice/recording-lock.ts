import type { ConversationId } from "#contract/ids.ts";

const handOverMs = 2_000;
const lockName = (conversation: ConversationId): string => `lisolo-voice-${conversation}`;

/** Only one tab records in a conversation; what it keeps meanwhile is nothing to be offered in another. */
export const holdLock = (conversation: ConversationId): (() => void) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  void navigator.locks?.request(lockName(conversation), { ifAvailable: true }, () => held);
  return release;
};
/** A tab that is just leaving the conversation ends its recording first. */
export const isFree = async (conversation: ConversationId): Promise<boolean> => {
  if (!navigator.locks) return true;
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), handOverMs);
  try {
    return await navigator.locks.request(lockName(conversation), { signal: waiting.signal }, async () => true);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
};
