import { createInstance } from "i18next";
import { useSyncExternalStore } from "react";
import { defaultLanguage, isLanguage, type Language, toLanguageCookie } from "../../contract/language";
import type french from "./fr.json";
import { locales } from "./locales";

/**
 * The product's texts: nested objects in fr.json, en.json and pt.json, one top-level section per feature.
 * One language is loaded at a time, into an i18next of its own; components follow by `useT`.
 *
 * `t("senga.empty.title")`; `{name}` in a text is filled from the second argument. A text that counts has
 * two forms, `members_one` and `members_other`, asked for as `t("members", { count })`.
 */
type Texts = typeof french;
type PathOf<T> = {
  [K in keyof T & string]: T[K] extends string ? K : `${K}.${PathOf<T[K]>}`;
}[keyof T & string];
type WithoutForm<P extends string> = P extends `${infer Stem}_${"one" | "other"}` ? Stem : P;
export type TextKey = WithoutForm<PathOf<Texts>>;
type TextValues = Record<string, string | number> & { count?: number };
export type Translate = (key: TextKey, values?: TextValues) => string;

const loaders: Record<Language, () => Promise<{ default: object }>> = {
  fr: () => import("./fr.json"),
  en: () => import("./en.json"),
  pt: () => import("./pt.json"),
};

/** Texts of one language as a function. A key that is missing shows itself: seen, and never a crash. */
export const createTranslate = (language: Language, texts: object): Translate => {
  const i18n = createInstance();
  void i18n.init({
    lng: locales[language],
    resources: { [locales[language]]: { translation: texts } },
    initAsync: false,
    interpolation: { prefix: "{", suffix: "}", escapeValue: false }, // React escapes
  });
  return (key, values) => i18n.t(key, values ?? {});
};

type State = { language: Language; t: Translate };
let state: State = { language: defaultLanguage, t: createTranslate(defaultLanguage, {}) };
const listeners = new Set<() => void>();

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};
const read = () => state;

/** Makes these texts the current ones. The prerenderer calls it with the whole file, the browser by `loadLanguage`. */
export const showTexts = (language: Language, texts: object): void => {
  state = { language, t: createTranslate(language, texts) };
  for (const listener of listeners) listener();
};

let asked = 0;

/**
 * Loads a language and shows it, without changing what is remembered; false when another one was asked for while it was
 * on its way.
 */
export const loadLanguage = async (language: Language): Promise<boolean> => {
  const turn = ++asked;
  const texts = await loaders[language]().catch((error: unknown) => {
    if (turn === asked) throw error;
  });
  if (!texts || turn !== asked) return false;
  if (typeof document !== "undefined") document.documentElement.lang = language;
  showTexts(language, texts.default);
  return true;
};

const channelName = "language";

/** Shows what is chosen in another tab of this browser. */
export const followLanguage = (): void => {
  if (typeof BroadcastChannel === "undefined") return;
  new BroadcastChannel(channelName).onmessage = ({ data }: MessageEvent<unknown>) => {
    if (typeof data === "string" && isLanguage(data) && data !== state.language)
      loadLanguage(data).catch(() => undefined); // its texts cannot be had: this tab stays readable as it is
  };
};

const tellOtherTabs = (language: Language): void => {
  if (typeof BroadcastChannel === "undefined") return;
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(language);
  channel.close();
};

/**
 * The person chose: shows the language, here and in the other tabs, and remembers it for a year; false when they have
 * chosen another one meanwhile.
 */
export const setLanguage = async (language: Language): Promise<boolean> => {
  if (!(await loadLanguage(language))) return false;
  // biome-ignore lint/suspicious/noDocumentCookie: the Worker picks the prerendered page by this cookie
  document.cookie = toLanguageCookie(language);
  tellOtherTabs(language);
  return true;
};

export const getLanguage = (): Language => state.language;

/** For code outside components. A component that used it would not follow a change of language: see `useT`. */
export const t: Translate = (key, values) => state.t(key, values);

/** The texts inside a component; it renders again when the language changes. */
export const useT = (): Translate => useSyncExternalStore(subscribe, read, read).t;

export const useLanguage = (): Language => useSyncExternalStore(subscribe, read, read).language;
