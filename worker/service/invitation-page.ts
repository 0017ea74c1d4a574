import { html } from "hono/html";
import { type Language, resolveLanguage } from "#contract/language.ts";
import {
  invitationCookie,
  invitationCookieSeconds,
  invitationSteps,
  parseInvitationPath,
  toInvitationPath,
} from "#contract/names/invitation.ts";
import { findInviterName } from "#worker/contacts/invitation-queries.ts";
import { openDb } from "#worker/db/client.ts";
import { isSameOrigin } from "#worker/lib/http/same-origin.ts";
import { emptyHeaders } from "#worker/lib/http/security-headers.ts";
import { takeAddressToken } from "#worker/lib/limits/request-limit.ts";
import { invitationTexts } from "./invitation-texts.ts";
import { createVisitorPage } from "./visitor-page.ts";

export const isInvitation = (path: string): boolean => path.startsWith("/i/");

const drawInvitation = (language: Language, token: string, inviter: string | undefined) => {
  const texts = invitationTexts[language];
  const [before, after] = texts.invites;
  const content =
    inviter === undefined
      ? html`<h1>${texts.gone}</h1><p>${texts.goneBody}</p><a href="/">${texts.open}</a>`
      : html`<h1>${before}<bdi>${inviter}</bdi>${after}</h1><p>${texts.body}</p>${invitationSteps.map(
          (step) =>
            html`<form method="post" action="${toInvitationPath(token)}/${step}"><button>${texts[step]}</button></form>`,
        )}`;
  return { title: texts.title, content };
};

const refuseRequest = (status: 403 | 405 | 429, headers: Record<string, string> = {}): Response =>
  new Response(null, { status, headers: { ...emptyHeaders, ...headers } });

const showInvitation = async (request: Request, env: Env, token: string | undefined): Promise<Response> => {
  const taken = takeAddressToken(request);
  if (!taken.ok) return refuseRequest(429, { "retry-after": String(Math.ceil(taken.retryAfterMs / 1_000)) });
  const inviter = token === undefined ? undefined : await findInviterName(openDb(env), token);
  const language = resolveLanguage({
    cookies: request.headers.get("cookie"),
    accept: request.headers.get("accept-language"),
  });
  return createVisitorPage({
    language,
    status: inviter === undefined ? 404 : 200,
    ...drawInvitation(language, token ?? "", inviter),
  });
};

/**
 * Page of an invitation for visitors: the name of who invites, and two buttons. The chosen one leads to registration or
 * sign-in; its cookie makes the app accept the invitation afterwards. A page of another site cannot set it.
 */
export const serveInvitation = async (request: Request, env: Env): Promise<Response> => {
  const { method, url } = request;
  const parsed = parseInvitationPath(new URL(url).pathname);
  if (parsed?.step === undefined) {
    if (method !== "GET" && method !== "HEAD") return refuseRequest(405, { allow: "GET, HEAD" });
    return showInvitation(request, env, parsed?.token);
  }
  const { token, step } = parsed;
  // Reloads of the next page's address bar, and links without the form: back to the page with the buttons.
  if (method !== "POST")
    return new Response(null, { status: 303, headers: { ...emptyHeaders, location: toInvitationPath(token) } });
  if (!isSameOrigin(request, true)) return refuseRequest(403);
  const cookie = `${invitationCookie}=${token}; Path=/; Max-Age=${invitationCookieSeconds}; Secure; SameSite=Lax`;
  return new Response(null, { status: 303, headers: { ...emptyHeaders, location: `/${step}`, "set-cookie": cookie } });
};
