import { type Language, languageParameter, resolveLanguage } from "#contract/language.ts";

/** Language of this browser, by the same rule as in the Worker (`contract/language.ts`). */
export const detectLanguage = (): Language =>
  resolveLanguage({
    parameter: new URLSearchParams(location.search).get(languageParameter),
    cookies: document.cookie,
    accept: navigator.languages.join(","),
  });
