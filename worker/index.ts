import { api } from "./api";
import { isDocument, serveDocument } from "./documents";

export { Conversation } from "./objects/conversation";
export { UserChannel } from "./objects/user-channel";

export default {
  fetch: (request, env, context) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/api" || pathname.startsWith("/api/")) return api.fetch(request, env, context);
    return isDocument(pathname) ? serveDocument(request, env) : env.ASSETS.fetch(request);
  },
} satisfies ExportedHandler<Env>;
