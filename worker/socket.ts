import { floodPauseMs } from "#contract/limits/sockets.ts";
import { closeSockets } from "./auth/sessions/close-sockets.ts";
import { openDb } from "./db/client.ts";
import { pushPendingRelations } from "./lib/contact-updates.ts";
import { type AppContext, type Caller, runAfterResponse } from "./lib/http/app.ts";
import { authenticateUpgrade, isSessionLive } from "./lib/http/authenticate.ts";
import { createRefusalResponse } from "./lib/http/refusal.ts";
import { logError } from "./lib/log.ts";
import { sessionHeader } from "./objects/user-channel.ts";
import { pushPendingSettings } from "./settings/settings-delivery.ts";

/**
 * Closes the socket of a session that ended while the socket was being opened. Ending a session deletes its row before
 * it closes its sockets, so a row that still exists after the upgrade guarantees that the session's end will close this
 * socket.
 */
const closeSocketIfSessionEnded = async (env: Env, { user, session }: Caller): Promise<void> => {
  if (!(await isSessionLive(openDb(env), session))) await closeSockets(env, user, [session]);
};

/**
 * WebSocket upgrade of a device. The request to the person's UserChannel is built from scratch: the Worker states the
 * identity, and no header or URL of the client is forwarded.
 */
export const handleSocketUpgrade = async (c: AppContext): Promise<Response> => {
  const { env } = c;
  const request = c.req.raw;
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return createRefusalResponse("invalid_input");
  const caller = await authenticateUpgrade(request, env);
  if (caller instanceof Response) return caller;
  try {
    // Pending updates in the directory are pushed before the socket opens, so that the welcome frame is complete.
    await Promise.all([pushPendingRelations(env, caller.user), pushPendingSettings(env, caller.user)]);
    const upgrade = new Request("https://user-channel/socket", {
      headers: { upgrade: "websocket", [sessionHeader]: caller.session },
    });
    const answer = await env.USER_CHANNEL.getByName(caller.user).fetch(upgrade);
    if (answer.status === 429) return createRefusalResponse("rate_limited", floodPauseMs);
    if (!answer.webSocket) return createRefusalResponse("unavailable");
    runAfterResponse(c.executionCtx, "close the socket of an ended session", closeSocketIfSessionEnded(env, caller));
    return answer;
  } catch (error) {
    logError("the WebSocket upgrade failed", error);
    return createRefusalResponse("unavailable");
  }
};
