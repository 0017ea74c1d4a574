import type { Db } from "#worker/db/client.ts";
import { logError } from "#worker/lib/log.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";
import { type Acceptance, type findConnectionRequest, undoAcceptance } from "./queries.ts";

type RequestWithBlock = NonNullable<Awaited<ReturnType<typeof findConnectionRequest>>>;

/**
 * Opens the conversation, the second half of an acceptance. If the conversation is unreachable, the first half is
 * undone (SPEC.md §4) and the result is false. A Worker that stops in between leaves a connection without an open
 * conversation; the conversation then asks the directory (`findConnection`).
 */
export const openConversation = async (
  env: Env,
  db: Db,
  request: RequestWithBlock,
  { connection, isNew }: Acceptance,
): Promise<boolean> => {
  const id = request.conversation_id;
  try {
    await getConversationStub(env, id).openConnection(connection);
    return true;
  } catch (error) {
    logError("a conversation could not be opened", error);
  }
  if (!isNew) return false; // the connection comes from another acceptance and stays
  await undoAcceptance(db, request, connection);
  // The call may have succeeded and only its response been lost: close the conversation again.
  await getConversationStub(env, id)
    .closeConnection(connection)
    .catch((error: unknown) => logError("a conversation may be open although its acceptance was undone", error));
  return false;
};
