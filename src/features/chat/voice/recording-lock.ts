import type { ConversationId } from "#contract/ids.ts";

const lockWaitMaxMs = 2_000;
const toRecordingLockName = (conversation: ConversationId): string => `lisolo-voice-${conversation}`;

/**
 * Takes the Web Lock of a running recording and returns its release function. While it is held, other tabs do not offer
 * the saved chunks of this recording.
 */
export const acquireRecordingLock = (conversation: ConversationId): (() => void) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  void navigator.locks?.request(toRecordingLockName(conversation), { ifAvailable: true }, () => held);
  return release;
};

/**
 * Waits until no tab records in the conversation. Returns false after `lockWaitMaxMs`, the time for a tab that leaves
 * the conversation to finish its recording.
 */
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
