import { useSyncExternalStore } from "react";

/**
 * Appearance settings of this device; they are not sent to the server. The default of each follows the system and the
 * browser.
 */
export const themes = ["system", "light", "dark"] as const;
export const textSizes = ["small", "normal", "large", "larger"] as const;
export const motions = ["system", "still"] as const;
export type Appearance = {
  theme: (typeof themes)[number];
  text: (typeof textSizes)[number];
  motion: (typeof motions)[number];
};

/** Storage key; the inline script reads it too. */
export const appearanceKey = "appearance";

const pickWord = <T extends string>(words: readonly string[], from: readonly T[], otherwise: T): T =>
  from.find((word) => word !== otherwise && words.includes(word)) ?? otherwise;

/** Parses stored words. Unknown words, from another version, are ignored. */
export const parseAppearance = (look: string): Appearance => {
  const words = look.split(" ");
  return {
    theme: pickWord(words, themes, "system"),
    text: pickWord(words, textSizes, "normal"),
    motion: pickWord(words, motions, "system"),
  };
};

/**
 * Serializes the settings for storage and for the root element's `data-look`, which theme.css reads: "dark large
 * still", or an empty string.
 */
export const serializeAppearance = ({ theme, text, motion }: Appearance): string =>
  [theme, text, motion].filter((word) => word !== "system" && word !== "normal").join(" ");

/**
 * Applies the appearance to the root element and to the browser's theme colour; documents list the light theme-color
 * first and the dark one second. The source text of this function is also the inline script that runs before the first
 * paint, so it must not use anything from its module.
 */
export const applyAppearance = (look: string): void => {
  document.documentElement.dataset["look"] = look;
  const [chosen] = /dark|light/.exec(look) ?? [];
  document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]').forEach((meta, index) => {
    const scheme = index === 0 ? "light" : "dark";
    const wanted = chosen === scheme ? "all" : "not all";
    meta.media = chosen ? wanted : `(prefers-color-scheme: ${scheme})`;
  });
};

const listeners = new Set<() => void>();
// Fallback if storage is full or forbidden: lasts as long as the page.
let unstoredText: string | undefined;
let cachedAppearance: { look: string; appearance: Appearance } | undefined;

const readAppearanceText = (): string => {
  try {
    return unstoredText ?? localStorage.getItem(appearanceKey) ?? "";
  } catch {
    return unstoredText ?? "";
  }
};

/** Snapshot for an external store: the same object until something changes. */
export const getAppearance = (): Appearance => {
  const look = readAppearanceText();
  if (cachedAppearance?.look !== look) cachedAppearance = { look, appearance: parseAppearance(look) };
  return cachedAppearance.appearance;
};

const refreshAppearance = (): void => {
  applyAppearance(readAppearanceText());
  for (const listener of [...listeners]) listener();
};

export const setAppearance = (change: Partial<Appearance>): void => {
  const look = serializeAppearance({ ...getAppearance(), ...change });
  unstoredText = undefined;
  try {
    if (look === "") localStorage.removeItem(appearanceKey);
    else localStorage.setItem(appearanceKey, look);
  } catch {
    unstoredText = look;
  }
  refreshAppearance();
};

/**
 * Applies the stored appearance, also when another tab changes it or the page is restored from the back/forward cache.
 */
export const syncAppearance = (): void => {
  applyAppearance(readAppearanceText());
  addEventListener("storage", ({ key }) => {
    if (key === appearanceKey || key === null) refreshAppearance();
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) refreshAppearance();
  });
};

/** Whether decorative motion is off, by this setting or by the system's. */
export const isMotionReduced = (): boolean =>
  getAppearance().motion === "still" || matchMedia("(prefers-reduced-motion: reduce)").matches;

const subscribeToAppearance = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

export const useAppearance = (): Appearance =>
  useSyncExternalStore(subscribeToAppearance, getAppearance, getAppearance);
