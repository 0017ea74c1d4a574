import { html } from "hono/html";
import { type Language, resolveLanguage } from "#contract/language.ts";
import { keptLinkCookie, keptLinkSeconds, parseKeptLink, toKeptLinkPath } from "#contract/names/kept-link.ts";
import { emptyHeaders } from "#worker/lib/http/security-headers.ts";
import { invitationTexts } from "./invitation-texts.ts";
import { createVisitorPage } from "./visitor-page.ts";

/** Links to pages of the app that visitors reach after signing up or in: personal links and codes of vouching. */

export const isAppLink = (path: string): boolean => /^\/[uv]\//.test(path);

type LinkTexts = { title: string; body: string };

const personalTexts: Record<Language, LinkTexts> = {
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

const vouchingTexts: Record<Language, LinkTexts> = {
  fr: {
    title: "Un contact vous demande de confirmer son numéro",
    body: "Connectez-vous : vous verrez de qui il s'agit. Seuls ses contacts sur Lisolo peuvent le confirmer.",
  },
  en: {
    title: "A contact asks you to confirm their number",
    body: "Log in: you will see who it is. Only their contacts on Lisolo can confirm it.",
  },
  pt: {
    title: "Um contacto pede-lhe que confirme o seu número",
    body: "Inicie sessão: verá de quem se trata. Só os contactos dessa pessoa no Lisolo o podem confirmar.",
  },
};

/** Page for visitors. It is the same for every link of a kind: nothing about its owner is disclosed. */
const showLink = (request: Request, link: string): Promise<Response> => {
  const language = resolveLanguage({
    cookies: request.headers.get("cookie"),
    accept: request.headers.get("accept-language"),
  });
  const isVouching = link.startsWith("v");
  const { title, body } = (isVouching ? vouchingTexts : personalTexts)[language];
  const { register, login } = invitationTexts[language];
  const steps = [html`<a href="/register">${register}</a>`, html`<a href="/login">${login}</a>`];
  // Vouching needs an account, so signing in comes first.
  const content = html`<h1>${title}</h1><p>${body}</p>${isVouching ? steps.reverse() : steps}`;
  return createVisitorPage({ language, title, content });
};

/**
 * Leads from a link to its page in the app, which sends visitors back here (index.html). Nothing is read and nothing
 * about the owner is disclosed. The cookie keeps the link for visitors, who sign up or in first; the app reads it
 * afterwards.
 */
export const serveAppLink = async (request: Request): Promise<Response> => {
  const { pathname, search } = new URL(request.url);
  const link = parseKeptLink(pathname);
  if (link === undefined) return new Response(null, { status: 303, headers: { ...emptyHeaders, location: "/" } });
  const response =
    search === "?visitor"
      ? await showLink(request, link)
      : new Response(null, { status: 303, headers: { ...emptyHeaders, location: toKeptLinkPath(link) } });
  response.headers.set(
    "set-cookie",
    `${keptLinkCookie}=${link}; Path=/; Max-Age=${keptLinkSeconds}; Secure; SameSite=Lax`,
  );
  return response;
};
