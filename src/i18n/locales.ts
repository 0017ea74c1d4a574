import type { Language } from "#contract/language.ts";

/**
 * Locale of each language for times, numbers and plurals; SPEC.md §9 names fr-FR. Plain `pt` would be that of Brazil.
 */
export const locales: Record<Language, string> = { fr: "fr-FR", en: "en-GB", pt: "pt-PT" };
