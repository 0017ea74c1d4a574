import { html } from "hono/html";
import { type Language, resolveLanguage } from "#contract/language.ts";
import { linkCookie, linkCookieSeconds, parseLinkPath, toLinkAppPath } from "#contract/names/personal-link.ts";
import { emptyHeaders } from "#worker/lib/http/security-headers.ts";
import { invitationTexts } from "./invitation-texts.ts";
import { createVisitorPage } from "./visitor-page.ts";

export const isPersonalLink = (path: string): boolean => path.startsWith("/u/");

const linkTexts: Record<Language, { title: string; body: string }> = {
  fr: {
    title: "Quelqu'un vous a donné son lien Lisolo",
    body: "Créez un compte : vous verrez aussitôt de qui il s'agit, et pourrez lui envoyer une demande.",
  },
  en: {
    title: "Somebody gave you their Lisolo link",
    body: "Create an account: you will see at once who it is, and can send them a request.",
  },
  pt: {
    title: "Alguém lhe deu o seu link do Lisolo",
    body: "Crie uma conta: verá logo de quem se trata e poderá enviar um pedido.",
  },
};

/** Page for visitors. It is the same for every link: nothing about its owner is disclosed. */
const showLink = (request: Request): Promise<Response> => {
  const language = resolveLanguage({
    cookies: request.headers.get("cookie"),
    accept: request.headers.get("accept-language"),
  });
  const { title, body } = linkTexts[language];
  const { register, login } = invitationTexts[language];
  const content = html`<h1>${title}</h1><p>${body}</p><a href="/register">${register}</a><a href="/login">${login}</a>`;
  return createVisitorPage({ language, title, content });
};

/**
 * Leads from a personal link to the page of the app that shows the person, which sends visitors back here (index.html).
 * Nothing is read and nothing about the owner is disclosed. The cookie keeps the link for visitors, who sign up or in
 * first; the app reads it afterwards.
 */
export const servePersonalLink = async (request: Request): Promise<Response> => {
  const { pathname, search } = new URL(request.url);
  const token = parseLinkPath(pathname);
  if (token !== undefined && search === "?visitor") return showLink(request);
  const headers = new Headers({ ...emptyHeaders, location: token === undefined ? "/" : toLinkAppPath(token) });
  if (token !== undefined)
    headers.set("set-cookie", `${linkCookie}=${token}; Path=/; Max-Age=${linkCookieSeconds}; Secure; SameSite=Lax`);
  return new Response(null, { status: 303, headers });
};
