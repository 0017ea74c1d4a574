import { api } from "./api";
import { isClientFile, serveClientFile } from "./client-files";
import { isDocument, serveDocument } from "./documents";
import { sweepFiles } from "./files/sweep";

export { Conversation } from "./objects/conversation";
export { UserChannel } from "./objects/user-channel";

export default {
  fetch: (request, env, context) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/api" || pathname.startsWith("/api/")) return api.fetch(request, env, context);
    if (isClientFile(pathname)) return serveClientFile(request, env);
    return isDocument(pathname) ? serveDocument(request, env) : env.ASSETS.fetch(request);
  },
  scheduled: (_, env) => sweepFiles(env, Date.now()),
} satisfies ExportedHandler<Env>;
