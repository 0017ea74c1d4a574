import { createInstance, type i18n as I18n, type ParseKeys, type TFunction } from "i18next";
import { useTranslation } from "react-i18next";
import {
  defaultLanguage,
  isLanguage,
  type Language,
  languages,
  toLanguageCookie,
  toManifestPath,
} from "#contract/language.ts";
import { deleteFirstViews } from "#lib/browser/first-view-cache.ts";
import { loadLaterIcons } from "#lib/browser/later-icons.ts";
import { loadWithRetry } from "#lib/browser/load-failure.ts";
import { getLanguage, setCurrentLanguage } from "./current-language.ts";
import type french from "./fr.json";
import { locales } from "./locales.ts";

/**
 * Texts of the product: nested objects in fr.json, en.json and pt.json, one top-level section per feature. One language
 * is loaded at a time, in parts. Components read texts with `useTranslation`, under the `I18nextProvider` of their
 * root.
 *
 * `t("senga.empty.title")`; `{name}` in a text is filled from the second argument. A text with a count has two forms,
 * `members_one` and `members_other`, and is requested as `t("members", { count })`.
 */
declare module "i18next" {
  interface CustomTypeOptions {
    resources: { translation: typeof french };
    strictKeyChecks: true; // no literal text in the place of a key
  }
}
export type TextKey = ParseKeys;
export type Translate = TFunction;

/**
 * Parts of a language: texts of the entry pages, texts loaded with the app, texts of code that it loads when it is idle
 * and of errors, and texts of other lazy code (scripts/build/text-parts.mjs).
 */
type TextBundle = "entry" | "app" | "idle" | "lazy";

const textLoaders: Record<TextBundle, Record<Language, () => Promise<{ default: object }>>> = {
  entry: {
    fr: () => import("./fr.json?entry"),
    en: () => import("./en.json?entry"),
    pt: () => import("./pt.json?entry"),
  },
  app: { fr: () => import("./fr.json?app"), en: () => import("./en.json?app"), pt: () => import("./pt.json?app") },
  idle: { fr: () => import("./fr.json?idle"), en: () => import("./en.json?idle"), pt: () => import("./pt.json?idle") },
  lazy: {
    fr: () => import("./fr.json?lazy"),
    en: () => import("./en.json?lazy"),
    pt: () => import("./pt.json?lazy"),
  },
};

const requestedParts = new Set<TextBundle>();
/** Shown for an error whose own text is not loaded yet. */
const unknownErrorKey = "errors.internal";

/** Whether components may show a key, or the text for an unknown error, because a text was not loaded. */
let isTextMissing = false;

const createI18n = (language: Language, ...parts: object[]): I18n => {
  const instance = createInstance();
  const locale = locales[language];
  void instance.init({
    lng: locale,
    resources: { [locale]: { translation: {} } },
    initAsync: false,
    interpolation: { prefix: "{", suffix: "}", escapeValue: false }, // React escapes
    parseMissingKeyHandler: (key) => {
      isTextMissing = true;
      if (!requestedParts.has("app")) return key;
      loadAllTexts().catch(() => undefined);
      return key.startsWith("errors.") && key !== unknownErrorKey ? instance.t(unknownErrorKey) : key;
    },
  });
  for (const texts of parts) instance.addResourceBundle(locale, "translation", texts, true);
  return instance;
};

/**
 * Translation instance of one language. A missing key renders as itself and never throws. In the app its text may be in
 * a part that is not loaded yet, which is then loaded, and components render again.
 */
export const createTranslate = (language: Language, ...parts: object[]): Translate => createI18n(language, ...parts).t;

/** Texts of the current language, for the provider of each root. */
export const i18n = createI18n(defaultLanguage);

const addedTexts = new Set<object>();

/**
 * Makes these texts current. The prerenderer passes the whole file, the browser uses `loadLanguage`. All components
 * render again if the language changes, but not for a further part of it, unless they asked for one of its texts.
 */
export const activateTexts = (language: Language, ...parts: object[]): void => {
  const locale = locales[language];
  for (const texts of parts) {
    if (!addedTexts.has(texts)) i18n.addResourceBundle(locale, "translation", texts, true, true);
    addedTexts.add(texts);
  }
  setCurrentLanguage(language);
  if (i18n.resolvedLanguage === locale && !isTextMissing) return;
  isTextMissing = false;
  void i18n.changeLanguage(locale); // synchronous: i18next loads nothing itself
};

/** Fetches all requested parts of a language, including those requested in the meantime. */
const fetchTexts = async (language: Language): Promise<object[]> => {
  const parts = [...requestedParts];
  const modules = await Promise.all(parts.map((part) => textLoaders[part][language]()));
  return parts.length < requestedParts.size ? fetchTexts(language) : modules.map((module) => module.default);
};

let lastRequest = 0;
let requestedLanguage: Language = defaultLanguage;

/**
 * Loads and shows a language without saving the choice; returns false if another language was requested in the
 * meantime. The document's script names the `part` it needs, and cannot start without it.
 */
export const loadLanguage = async (language: Language, part?: TextBundle): Promise<boolean> => {
  const requestNumber = ++lastRequest;
  requestedLanguage = language;
  if (part) requestedParts.add(part);
  const texts = await (part ? loadWithRetry(() => fetchTexts(language)) : fetchTexts(language)).catch(
    (error: unknown) => {
      if (requestNumber !== lastRequest) return;
      requestedLanguage = getLanguage();
      throw error;
    },
  );
  if (!texts || requestNumber !== lastRequest) return false;
  if (typeof document !== "undefined") {
    document.documentElement.lang = language;
    document.querySelector("link[rel=manifest]")?.setAttribute("href", toManifestPath(language));
  }
  activateTexts(language, ...texts);
  return true;
};

const fetchPart = async (part: TextBundle): Promise<void> => {
  const language = requestedLanguage;
  const requestNumber = lastRequest;
  requestedParts.add(part);
  const texts = await fetchTexts(language);
  if (requestNumber !== lastRequest) return fetchPart(part);
  activateTexts(language, ...texts);
};

const loadedParts = new Map<TextBundle, Promise<void>>();

/** Loads a part, in the current language and in every language chosen later. */
const loadPart = (part: TextBundle): Promise<void> => {
  const loaded =
    loadedParts.get(part) ??
    fetchPart(part).catch((error: unknown) => {
      requestedParts.delete(part);
      loadedParts.delete(part);
      throw error;
    });
  loadedParts.set(part, loaded);
  return loaded;
};

const loadAllTexts = () => Promise.all([loadPart("idle"), loadPart("lazy")]);

/** Loads a lazy module together with its texts and icons. Rejects if the code or the texts cannot be fetched. */
export const loadWithTexts = async <T>(load: () => Promise<T>): Promise<T> => {
  const [code] = await Promise.all([load(), loadAllTexts(), loadLaterIcons()]);
  return code;
};

/** Same for modules that most chats load soon. */
export const loadWithIdleTexts = async <T>(load: () => Promise<T>): Promise<T> => {
  const [code] = await Promise.all([load(), loadPart("idle"), loadLaterIcons()]);
  return code;
};

const channelName = "language";

/** Applies the language chosen in another tab of this browser. */
export const syncLanguage = (): void => {
  if (typeof BroadcastChannel === "undefined") return;
  new BroadcastChannel(channelName).onmessage = ({ data }: MessageEvent<unknown>) => {
    if (typeof data === "string" && isLanguage(data) && data !== getLanguage())
      loadLanguage(data).catch(() => undefined); // if its texts cannot be fetched, this tab keeps its language
  };
};

const broadcastLanguage = (language: Language): void => {
  if (typeof BroadcastChannel === "undefined") return;
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(language);
  channel.close();
};

/**
 * Applies a chosen language, here and in the other tabs, and saves it for a year; returns false if another one was
 * chosen in the meantime.
 */
export const setLanguage = async (language: Language): Promise<boolean> => {
  if (!(await loadLanguage(language))) return false;
  // biome-ignore lint/suspicious/noDocumentCookie: the Worker picks the prerendered page by this cookie
  document.cookie = toLanguageCookie(language);
  void deleteFirstViews().catch(() => undefined); // they are in the former language
  broadcastLanguage(language);
  return true;
};

const toLanguage = (locale: string): Language =>
  languages.find((language) => locales[language] === locale) ?? defaultLanguage;

/**
 * Translation function for code outside components. Components use `useTranslation`, which follows language changes.
 */
export const t: Translate = i18n.t;

/** Current language inside a component; renders again when it changes. */
export const useLanguage = (): Language => toLanguage(useTranslation().i18n.language);
