import type { Db } from "#worker/db/client.ts";
import { logError } from "#worker/lib/log.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";
import { type Acceptance, type findConnectionRequest, undoAcceptance } from "./queries.ts";

type RequestWithBlock = NonNullable<Awaited<ReturnType<typeof findConnectionRequest>>>;

/**
 * The second half of an acceptance: the conversation lets the two write. When it cannot be reached the first
 * half is taken back (SPEC.md §4) and the answer is false. A Worker that dies in between leaves a connection
 * whose conversation was never opened; the conversation asks the directory then (`findConnection`).
 */
export const openConversation = async (
  env: Env,
  db: Db,
  request: RequestWithBlock,
  { connection, isNew }: Acceptance,
): Promise<boolean> => {
  const id = request.conversation_id;
  try {
    await getConversationStub(env, id).openConnection(id, connection);
    return true;
  } catch (error) {
    logError("a conversation could not be opened", error);
  }
  if (!isNew) return false; // the connection is somebody else's acceptance and stays
  await undoAcceptance(db, request, connection);
  // The call may have arrived and only its answer been lost: then the conversation must not stay open.
  await getConversationStub(env, id)
    .closeConnection(id, connection)
    .catch((error: unknown) => logError("a conversation that was not to open may be open", error));
  return false;
};
