import type { Uuid } from "#contract/ids.ts";
import { logError } from "#worker/lib/log.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";

const attemptsMax = 4;
const firstWaitMs = 100;

/**
 * Closes the sockets of ended sessions. Their rows are already deleted, so no new socket can open. Retries for up to
 * two seconds, within which a revoked session must lose its socket.
 */
export const closeSockets = async (env: Env, user: Uuid, ended: Uuid[] | "all"): Promise<void> => {
  if (ended.length === 0) return;
  for (let attempt = 1; ; attempt++) {
    try {
      await getUserChannelStub(env, user).closeSessions(ended);
      return;
    } catch (error) {
      if (attempt === attemptsMax) {
        logError("sockets of an ended session may still be open", error);
        return;
      }
      await scheduler.wait(firstWaitMs * 2 ** (attempt - 1));
    }
  }
};
