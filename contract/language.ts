/** The languages of the product, French first (SPEC.md §1). Browser and Worker choose by the same rule. */
export const languages = ["fr", "en", "pt"] as const;
export type Language = (typeof languages)[number];
export const defaultLanguage: Language = "fr";

/** Readable by script: the choice is the browser's to keep, the Worker only picks the page by it. */
const languageCookie = "lang";
const languageCookieSeconds = 365 * 24 * 3_600;
/** The parameter of a plain language link, which works before and without the script. */
export const languageParameter = "lang";

export const isLanguage = (value: unknown): value is Language => languages.includes(value as Language);

/** The cookie as a header or as `document.cookie` takes it. */
export const toLanguageCookie = (language: Language): string =>
  `${languageCookie}=${language}; Path=/; Max-Age=${languageCookieSeconds}; SameSite=Lax`;

const fromCookies = (cookies: string): string | undefined =>
  cookies
    .split(";")
    .map((pair) => pair.trim().split("="))
    .find(([name]) => name === languageCookie)?.[1];

/** The first of Accept-Language's tags that is one of ours, by weight; weight 0 means "not this one". */
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

/**
 * Which language a person reads: what they just asked for, what they chose before, what their browser
 * prefers, French.
 */
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
