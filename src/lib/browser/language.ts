import { type Language, languageParameter, resolveLanguage } from "#contract/language.ts";

/** The language this browser reads, by the Worker's own rule (`contract/language.ts`). */
export const detectLanguage = (): Language =>
  resolveLanguage({
    parameter: new URLSearchParams(location.search).get(languageParameter),
    cookies: document.cookie,
    accept: navigator.languages.join(","),
  });
