import { api } from "./api";

export { Conversation } from "./objects/conversation";
export { UserChannel } from "./objects/user-channel";

const isApi = (path: string): boolean => path === "/api" || path.startsWith("/api/");

export default {
  fetch: (request, env, context) =>
    isApi(new URL(request.url).pathname) ? api.fetch(request, env, context) : env.ASSETS.fetch(request),
} satisfies ExportedHandler<Env>;
