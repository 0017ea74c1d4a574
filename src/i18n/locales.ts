import type { Language } from "#contract/language.ts";

/** How each language's readers write times and numbers, and count; SPEC.md §9 names fr-FR. Plain `pt` is that of Brazil. */
export const locales: Record<Language, string> = { fr: "fr-FR", en: "en-GB", pt: "pt-PT" };
