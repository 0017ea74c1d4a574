import type { Language } from "#contract/language.ts";

/** Texts of notifications, which the server writes because the app need not run when they are shown. */
type PushTexts = { test: string };

const texts: Record<Language, PushTexts> = {
  fr: { test: "Les notifications arrivent sur cet appareil." },
  en: { test: "Notifications arrive on this device." },
  pt: { test: "As notificações chegam a este dispositivo." },
};

/** Name of the product, the title of notifications that are from nobody in particular. */
export const productName = "Lisolo";

export const toTestText = (language: Language): string => texts[language].test;
