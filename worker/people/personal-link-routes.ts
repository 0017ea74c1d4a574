import { randomBytes } from "node:crypto";
import { LinkSearch, OwnLink, toLinkPath } from "#contract/names/personal-link.ts";
import { FoundPerson } from "#contract/people.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { getPublicOrigin, requirePublicOrigin } from "#worker/lib/http/public-origin.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { drawQrCode } from "#worker/lib/qr-code.ts";
import { deleteLinkToken, findByLinkToken, findLinkToken, replaceLinkToken } from "./personal-link-queries.ts";

const tokenBytes = 16;

const toOwnLink = (c: AppContext, token: string | undefined): OwnLink => {
  if (token === undefined) return { link: null };
  const url = getPublicOrigin(c) + toLinkPath(token);
  return { link: { url, qr_code: drawQrCode(url) } };
};

export const personalLinkRoutes = createRoutes()
  .get(
    "/link",
    describeOperation({
      tag: "people",
      summary: "One's own personal link with its QR code, or null",
      ok: { status: 200, body: OwnLink },
      refusals: ["public_url_missing"],
    }),
    requirePublicOrigin,
    authenticate,
    async (c) => c.json(toOwnLink(c, await findLinkToken(openDb(c.env), c.var.caller.user)), 200),
  )
  .post(
    "/link",
    describeOperation({
      tag: "people",
      summary: "Create one's personal link, or renew it: the former one leads nowhere from then on",
      ok: { status: 200, body: OwnLink },
      refusals: ["public_url_missing", "forbidden_origin"],
    }),
    requirePublicOrigin,
    authenticate,
    limitCaller("link_change_by_user"),
    async (c) => {
      const token = randomBytes(tokenBytes).toString("base64url");
      await replaceLinkToken(openDb(c.env), c.var.caller.user, token);
      return c.json(toOwnLink(c, token), 200);
    },
  )
  .delete(
    "/link",
    describeOperation({
      tag: "people",
      summary: "Turn one's personal link off",
      ok: { status: 200, body: OwnLink },
      refusals: ["forbidden_origin"],
    }),
    authenticate,
    async (c) => {
      await deleteLinkToken(openDb(c.env), c.var.caller.user);
      return c.json({ link: null }, 200);
    },
  )
  .post(
    "/links/search",
    describeOperation({
      tag: "people",
      summary: "The person to whom a personal link leads, without a number, unless they block the caller",
      ok: { status: 200, body: FoundPerson },
      refusals: ["invalid_input", "link_not_found", "forbidden_origin"],
    }),
    authenticate,
    // Not in the URL, which logs and proxies store.
    validate("json", LinkSearch, "link_not_found"),
    limitCaller("link_search_by_user"),
    async (c) => {
      const found = await findByLinkToken(openDb(c.env), c.var.caller.user, c.req.valid("json").token);
      return found ? c.json(found, 200) : refuse(c, "link_not_found");
    },
  );
