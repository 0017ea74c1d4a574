import { defaultLanguage, type Language } from "#contract/language.ts";

/** Language of the texts, for code outside components. Apart from i18next, so that the Worker can format texts too. */
let currentLanguage: Language = defaultLanguage;

export const getLanguage = (): Language => currentLanguage;

export const setCurrentLanguage = (language: Language): void => {
  currentLanguage = language;
};
