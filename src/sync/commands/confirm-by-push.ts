import type { ConversationId } from "#contract/ids.ts";
import type { LocalConversationRow, LocalStore } from "#sync/store/database.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import { watchStore } from "#sync/store/wait-for-store.ts";

/** Time after a lost answer within which the server's push arrives if the change was made. */
const pushTimeoutMs = 2_500;

const isResponseLost = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "offline" || error.code === "unavailable");

/**
 * Makes a request that changes the row of a conversation, as `confirmByAnswerOrPush` does. `isDone` recognises the
 * change in the row. A row that shows it from the start proves nothing: then only the answer confirms the request.
 * Without a readable store the request is made all the same.
 */
export const confirmRowChange = async <T>(
  port: SyncPort,
  conversation: ConversationId,
  request: () => Promise<T>,
  isDone: (row: LocalConversationRow) => boolean,
): Promise<T | undefined> => {
  let wasUndone = false;
  const hasBecomeDone = async ({ conversations }: LocalStore): Promise<boolean> => {
    const row = await conversations.get(conversation);
    const isNowDone = row !== undefined && isDone(row);
    wasUndone ||= !isNowDone;
    return wasUndone && isNowDone;
  };
  const store = port.context.get()?.store;
  const isReadable =
    store !== undefined &&
    (await hasBecomeDone(store).then(
      () => true,
      () => false,
    ));
  return isReadable ? confirmByAnswerOrPush(port, request, hasBecomeDone) : request();
};

/**
 * Makes a request whose change the server also pushes to this device, as to all others. On a bad network the push may
 * arrive before the answer or without it. Resolves to the answer, or to undefined if `hasArrived` found the push in the
 * store first; the late answer, or its loss, is then ignored. Rejects with the request's error.
 */
export const confirmByAnswerOrPush = async <T>(
  port: SyncPort,
  request: () => Promise<T>,
  hasArrived: (store: LocalStore) => Promise<boolean>,
): Promise<T | undefined> => {
  const push = watchStore(port, hasArrived);
  let cancelTimeout = () => {};
  const answer = request();
  try {
    return await Promise.race([answer, push.result.then((isPushed) => (isPushed ? undefined : answer))]);
  } catch (error) {
    if (!isResponseLost(error) || port.link.get() !== "online") throw error;
    port.refresh();
    cancelTimeout = port.platform.startTimer(pushTimeoutMs, push.stop);
    if (await push.result) return undefined;
    throw error;
  } finally {
    cancelTimeout();
    push.stop();
  }
};
