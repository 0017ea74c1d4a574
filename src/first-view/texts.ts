import { createInstance } from "i18next";
import { type Language, languages } from "#contract/language.ts";
import { setCurrentLanguage } from "#i18n/current-language.ts";
import english from "#i18n/en.json";
import french from "#i18n/fr.json";
import { locales } from "#i18n/locales.ts";
import portuguese from "#i18n/pt.json";
import type { Translate } from "#i18n/setup.ts";

const textsByLanguage: Record<Language, object> = { fr: french, en: english, pt: portuguese };

/** All texts in one instance, for the Worker: it draws views in the languages of different people. */
const i18n = createInstance();
void i18n.init({
  lng: locales.fr,
  resources: Object.fromEntries(
    languages.map((language) => [locales[language], { translation: { ...textsByLanguage[language] } }]),
  ),
  initAsync: false,
  interpolation: { prefix: "{", suffix: "}", escapeValue: false }, // markup.ts escapes
});

/**
 * Draws in a language. `draw` must be synchronous: dates and lists are formatted in the current language of the
 * runtime.
 */
export const drawInLanguage = <T>(language: Language, draw: (t: Translate) => T): T => {
  setCurrentLanguage(language);
  return draw(i18n.getFixedT(locales[language]));
};
