import type { ConversationId } from "#contract/ids.ts";

const lockWaitMaxMs = 2_000;
const toRecordingLockName = (conversation: ConversationId): string => `lisolo-voice-${conversation}`;

/** Only one tab records in a conversation; what it keeps meanwhile is nothing to be offered in another. */
export const acquireRecordingLock = (conversation: ConversationId): (() => void) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  void navigator.locks?.request(toRecordingLockName(conversation), { ifAvailable: true }, () => held);
  return release;
};
/** A tab that is just leaving the conversation ends its recording first. */
export const waitForRecordingLock = async (conversation: ConversationId): Promise<boolean> => {
  if (!navigator.locks) return true;
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), lockWaitMaxMs);
  try {
    return await navigator.locks.request(
      toRecordingLockName(conversation),
      { signal: waiting.signal },
      async () => true,
    );
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
};
