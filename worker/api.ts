import { Hono } from "hono";
import { accountRoutes } from "./account/routes.ts";
import { authRoutes } from "./auth/routes.ts";
import { callRoutes } from "./calls/routes.ts";
import { invitationRoutes } from "./contacts/invitation-routes.ts";
import { contactRoutes } from "./contacts/routes.ts";
import { conversationChoiceRoutes } from "./conversations/choice-routes.ts";
import { conversationCommandRoutes } from "./conversations/command-routes.ts";
import { conversationRoutes } from "./conversations/routes.ts";
import { fileRoutes } from "./files/routes.ts";
import { groupInvitationRoutes } from "./groups/invitation-routes.ts";
import { groupMemberRoutes } from "./groups/member-routes.ts";
import { groupRoutes } from "./groups/routes.ts";
import type { AppEnv } from "./lib/http/app.ts";
import { limitBody } from "./lib/http/body-limit.ts";
import { createNotFoundHandler, handleError } from "./lib/http/error-handler.ts";
import { describeOperation } from "./lib/http/openapi.ts";
import { requireSameOrigin } from "./lib/http/same-origin.ts";
import { secureHeaders } from "./lib/http/security-headers.ts";
import { requireClientAddress } from "./lib/limits/client-address.ts";
import { limitRequests } from "./lib/limits/request-limit.ts";
import { requireSecrets } from "./lib/required-secrets.ts";
import { blockRoutes } from "./people/block-routes.ts";
import { handleRoutes } from "./people/handle-routes.ts";
import { numberLookupRoutes } from "./people/number-lookup-routes.ts";
import { numberRoutes } from "./people/numbers/routes.ts";
import { vouchingRoutes } from "./people/numbers/vouching-routes.ts";
import { numberWebhookRoutes } from "./people/numbers/webhook-routes.ts";
import { personalLinkRoutes } from "./people/personal-link-routes.ts";
import { peopleRoutes } from "./people/routes.ts";
import { pushRoutes } from "./push/routes.ts";
import { createApiDocumentRoutes } from "./service/api-document-routes.ts";
import { serviceRoutes } from "./service/health.ts";
import { settingsRoutes } from "./settings/routes.ts";
import { handleSocketUpgrade } from "./socket.ts";
import { talaRoutes } from "./tala/routes.ts";

const app = new Hono<AppEnv>();

/** All routes under /api in one chain; its type is the API type of a typed client. */
export const api = app
  .use(
    "/api/*",
    secureHeaders,
    requireSecrets,
    requireClientAddress(LOCAL_MAILBOX),
    requireSameOrigin,
    limitRequests,
    limitBody,
  )
  .get(
    "/api/socket",
    describeOperation({
      tag: "conversations",
      summary:
        "WebSocket of a device (RFC 6455): live changes, and every command as a frame (contract/wire/server-frames.ts)",
      ok: { status: 101, body: null },
      refusals: ["invalid_input", "forbidden_origin", "unavailable"],
    }),
    handleSocketUpgrade,
  )
  .route("/api/auth", authRoutes)
  .route("/api", accountRoutes)
  .route("/api", peopleRoutes)
  .route("/api", handleRoutes)
  .route("/api", personalLinkRoutes)
  .route("/api", numberLookupRoutes)
  .route("/api", invitationRoutes)
  .route("/api", numberRoutes)
  .route("/api", vouchingRoutes)
  .route("/api", numberWebhookRoutes)
  .route("/api", contactRoutes)
  .route("/api", blockRoutes)
  .route("/api", conversationRoutes)
  .route("/api", groupInvitationRoutes)
  .route("/api", groupRoutes)
  .route("/api", groupMemberRoutes)
  .route("/api", fileRoutes)
  .route("/api", conversationCommandRoutes)
  .route("/api", conversationChoiceRoutes)
  .route("/api", callRoutes)
  .route("/api", talaRoutes)
  .route("/api", settingsRoutes)
  .route("/api", pushRoutes)
  .route("/api", serviceRoutes)
  .route(
    "/api",
    createApiDocumentRoutes(() => app),
  )
  .onError(handleError)
  .notFound(createNotFoundHandler(() => app.routes));
