import { floodPauseMs } from "#contract/limits.ts";
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
 * A session that ends while its socket is being opened has none to close yet: who ends it deletes its row first and
 * then its sockets, so whoever finds the row after the socket is there leaves that to them.
 */
const closeSocketIfSessionEnded = async (env: Env, { user, session }: Caller): Promise<void> => {
  if (!(await isSessionLive(openDb(env), session))) await closeSockets(env, user, [session]);
};

/**
 * The upgrade of a device's one socket. What reaches the person's channel is a request built here: who they
 * are is said by the Worker, and nothing that the client sent, its headers and its URL included, goes along.
 */
export const handleSocketUpgrade = async (c: AppContext): Promise<Response> => {
  const { env } = c;
  const request = c.req.raw;
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return createRefusalResponse("invalid_input");
  const caller = await authenticateUpgrade(request, env);
  if (caller instanceof Response) return caller;
  try {
    // What the directory has still to tell this person comes before their welcome, so that the welcome is whole.
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
    logError("a socket could not be opened", error);
    return createRefusalResponse("unavailable");
  }
};
