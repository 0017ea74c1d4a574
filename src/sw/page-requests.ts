import * as v from "valibot";
import { ConversationId, Uuid } from "#contract/ids.ts";
import type { WorkerAnswer, WorkerRequest } from "#lib/browser/worker-request.ts";
import { cacheAssets } from "./app-cache.ts";
import { sendOrWait } from "./notification-actions.ts";
import { renewSession } from "./person-request.ts";

/** Requests of pages to the service worker. */
declare const self: ServiceWorkerGlobalScope;

const PageRequest = v.variant("type", [
  v.object({ type: v.literal("cache-files"), paths: v.array(v.string()) }),
  v.object({ type: v.literal("send-unsent"), user: Uuid, conversation: ConversationId }),
  v.object({ type: v.literal("renew-session"), user: Uuid }),
]) satisfies v.GenericSchema<WorkerRequest, unknown>;

const carryOut = async (request: WorkerRequest): Promise<WorkerAnswer> => {
  switch (request.type) {
    case "cache-files":
      // A page that was being opened while this worker was activated is not controlled yet.
      await Promise.all([self.clients.claim(), cacheAssets(request.paths)]);
      return {};
    case "send-unsent": {
      const outcome = await sendOrWait(request.user, request.conversation);
      return { isRefused: outcome?.refused.has(request.conversation) ?? false };
    }
    case "renew-session": {
      const renewedUntil = await renewSession(request.user).catch(() => undefined); // again, with the message that needs it
      return renewedUntil === undefined ? {} : { renewedUntil };
    }
  }
};

/** Carries out a request of a page, which may be closed meanwhile, and answers it. Anything else is ignored. */
export const handlePageRequest = async ({ data, ports }: ExtendableMessageEvent): Promise<void> => {
  const parsed = v.safeParse(PageRequest, data);
  if (!parsed.success) return;
  const answer = await carryOut(parsed.output);
  ports[0]?.postMessage(answer);
};
