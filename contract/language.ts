/** Languages of the product, French first (SPEC.md §1). Browser and Worker use the same selection. */
export const languages = ["fr", "en", "pt"] as const;
export type Language = (typeof languages)[number];
export const defaultLanguage: Language = "fr";
/** Name of each language in itself. */
export const languageNames: Record<Language, string> = { fr: "Français", en: "English", pt: "Português" };

/** Written by the browser, so not HttpOnly. The Worker selects the language of a page by it. */
const languageCookie = "lang";
const languageCookieSeconds = 365 * 24 * 3_600;
/** Query parameter of links to another language, so that they work without scripts. */
export const languageParameter = "lang";

export const isLanguage = (value: unknown): value is Language => languages.includes(value as Language);

/** Language cookie in the format of the Set-Cookie header and of `document.cookie`. */
export const toLanguageCookie = (language: Language): string =>
  `${languageCookie}=${language}; Path=/; Max-Age=${languageCookieSeconds}; SameSite=Lax`;

/** Path of the web app manifest in a language. */
export const toManifestPath = (language: Language): string => `/manifest.${language}.webmanifest`;

const fromCookies = (cookies: string): string | undefined =>
  cookies
    .split(";")
    .map((pair) => pair.trim().split("="))
    .find(([name]) => name === languageCookie)?.[1];

/** First supported language of an Accept-Language header by weight. Weight 0 excludes a language. */
const fromAcceptLanguage = (header: string): Language | undefined =>
  header
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.trim().toLowerCase().split(";");
      const weight = parameters.map((p) => /^\s*q=([0-9.]+)$/.exec(p)?.[1]).find((q) => q !== undefined);
      return { language: tag.split("-")[0], weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ language }) => language)
    .find(isLanguage);

/** Selects the language: the query parameter, then the cookie, then the browser's preference, then French. */
export const resolveLanguage = (wish: {
  parameter?: string | null | undefined;
  cookies?: string | null | undefined;
  accept?: string | null | undefined;
}): Language => {
  if (isLanguage(wish.parameter)) return wish.parameter;
  const chosen = fromCookies(wish.cookies ?? "");
  if (isLanguage(chosen)) return chosen;
  return fromAcceptLanguage(wish.accept ?? "") ?? defaultLanguage;
};
