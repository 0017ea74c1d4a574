import { authenticateUpgrade } from "./lib/authenticate";
import { refusalResponse } from "./lib/refusal";
import { flushPendingRelations } from "./lib/relation-delivery";
import { sessionHeader } from "./objects/user-channel";

/**
 * The upgrade of a device's one socket. What reaches the person's channel is a request built here: who they
 * are is said by the Worker, and nothing that the client sent, its headers and its URL included, goes along.
 */
export const handleSocket = async (request: Request, env: Env): Promise<Response> => {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return refusalResponse("invalid_input");
  const caller = await authenticateUpgrade(request, env);
  if (caller instanceof Response) return caller;
  try {
    // What the directory has still to tell this person comes before their welcome, so that the welcome is whole.
    await flushPendingRelations(env, caller.user);
    const upgrade = new Request("https://user-channel/socket", {
      headers: { upgrade: "websocket", [sessionHeader]: caller.session },
    });
    const answer = await env.USER_CHANNEL.getByName(caller.user).fetch(upgrade);
    return answer.webSocket ? answer : refusalResponse("unavailable");
  } catch (error) {
    console.error("a socket could not be opened", error);
    return refusalResponse("unavailable");
  }
};
