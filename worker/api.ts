import { Hono } from "hono";
import { accountRoutes } from "./account/routes";
import { authRoutes } from "./auth/routes";
import { callRoutes } from "./calls/routes";
import { contactsRoutes } from "./contacts/routes";
import { conversationChanges } from "./conversations/changing";
import { conversations } from "./conversations/routes";
import { docsRoutes } from "./docs/routes";
import { fileRoutes } from "./files/routes";
import { groupsRoutes } from "./groups/routes";
import type { AppEnv } from "./lib/app";
import { limitBody } from "./lib/body-limit";
import { createNotFound, onError } from "./lib/errors";
import { secureHeaders } from "./lib/headers";
import { operation } from "./lib/operation";
import { requireSameOrigin } from "./lib/origin";
import { limitRequests } from "./lib/request-limit";
import { requireSecrets } from "./lib/required-secrets";
import { blocksRoutes } from "./people/blocks";
import { peopleRoutes } from "./people/routes";
import { serviceRoutes } from "./service";
import { settingsRoutes } from "./settings/routes";
import { handleSocket } from "./socket";
import { talaRoutes } from "./tala/routes";

const app = new Hono<AppEnv>();

/** Everything under /api, in one chain: its type is what a typed client sees. */
export const api = app
  .use("/api/*", secureHeaders, requireSecrets, requireSameOrigin, limitRequests, limitBody)
  .get(
    "/api/socket",
    operation({
      tag: "conversations",
      summary: "A device's one socket (RFC 6455): live changes, and every command as a frame (contract/protocol.ts)",
      ok: { status: 101, body: null },
      refusals: ["invalid_input", "forbidden_origin", "unavailable"],
    }),
    handleSocket,
  )
  .route("/api/auth", authRoutes)
  .route("/api", accountRoutes)
  .route("/api", peopleRoutes)
  .route("/api", contactsRoutes)
  .route("/api", blocksRoutes)
  .route("/api", conversations)
  .route("/api", groupsRoutes)
  .route("/api", fileRoutes)
  .route("/api", conversationChanges)
  .route("/api", callRoutes)
  .route("/api", talaRoutes)
  .route("/api", settingsRoutes)
  .route("/api", serviceRoutes)
  .route(
    "/api",
    docsRoutes(() => app),
  )
  .onError(onError)
  .notFound(createNotFound(() => app.routes));
