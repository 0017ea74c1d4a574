import { html, raw } from "hono/html";
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

export const isInvitation = (path: string): boolean => path.startsWith("/i/");

/** The page needs no script: it opens at once in the browser inside another app. */
const style = `
:root { color-scheme: light dark; --ink: #231a20; --paper: #fbf7f4; --card: #fff; --line: #e6dcd8; --accent: #86295f; --on-accent: #fff; --muted: #6d5f68; }
@media (prefers-color-scheme: dark) { :root { --ink: #f3ecf0; --paper: #17121a; --card: #221b26; --line: #3b3140; --accent: #eba3cc; --on-accent: #2b0d1f; --muted: #b3a5ae; } }
body { margin: 0; min-height: 100svh; display: grid; place-items: center; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { box-sizing: border-box; width: min(100%, 26rem); padding: 1.5rem 1rem; text-align: center; }
section { padding: 1.5rem 1rem; border: 1px solid var(--line); border-radius: 14px; background: var(--card); }
.brand { margin: 0 0 1rem; color: var(--accent); font-weight: 700; font-size: 1.25rem; }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
p { margin: 0 0 1.25rem; color: var(--muted); }
button, a { box-sizing: border-box; display: block; width: 100%; min-height: 48px; margin-top: .75rem; padding: .65rem 1rem; border: 1px solid var(--accent); border-radius: 14px; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-decoration: none; cursor: pointer; }
form + form button { background: transparent; color: var(--accent); }
`;

let policy: Promise<string> | undefined;
const createPolicy = async (): Promise<string> => {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(hash)));
  return `default-src 'none'; style-src 'sha256-${base64}'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'`;
};

const renderPage = (language: Language, token: string, inviter: string | undefined) => {
  const texts = invitationTexts[language];
  const [before, after] = texts.invites;
  const content =
    inviter === undefined
      ? html`<h1>${texts.gone}</h1><p>${texts.goneBody}</p><a href="/">${texts.open}</a>`
      : html`<h1>${before}<bdi>${inviter}</bdi>${after}</h1><p>${texts.body}</p>${invitationSteps.map(
          (step) =>
            html`<form method="post" action="${toInvitationPath(token)}/${step}"><button>${texts[step]}</button></form>`,
        )}`;
  return html`<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${texts.title}</title><style>${raw(style)}</style></head><body><main><p class="brand">Lisolo</p><section>${content}</section></main></body></html>`;
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
  policy ??= createPolicy();
  const headers = {
    ...emptyHeaders,
    "content-security-policy": await policy,
    "content-type": "text/html; charset=utf-8",
    "content-language": language,
    // Without it browsers send the origin "null" with the form.
    "referrer-policy": "same-origin",
  };
  return new Response(String(await renderPage(language, token ?? "", inviter)), {
    status: inviter === undefined ? 404 : 200,
    headers,
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
