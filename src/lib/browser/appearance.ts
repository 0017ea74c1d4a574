import { useSyncExternalStore } from "react";

/** How this device shows the product; nobody else is told. What is not named is as the system and the browser have it. */
export const themes = ["system", "light", "dark"] as const;
export const textSizes = ["small", "normal", "large", "larger"] as const;
export const motions = ["system", "still"] as const;
export type Appearance = {
  theme: (typeof themes)[number];
  text: (typeof textSizes)[number];
  motion: (typeof motions)[number];
};

/** Where the browser keeps it; the inline script reads it there. */
export const appearanceKey = "appearance";

const pickWord = <T extends string>(words: readonly string[], from: readonly T[], otherwise: T): T =>
  from.find((word) => word !== otherwise && words.includes(word)) ?? otherwise;

/** The choice that these words stand for. Unknown ones, of another version, say nothing. */
export const parseAppearance = (look: string): Appearance => {
  const words = look.split(" ");
  return {
    theme: pickWord(words, themes, "system"),
    text: pickWord(words, textSizes, "normal"),
    motion: pickWord(words, motions, "system"),
  };
};

/** A choice as it is kept and stands on the root element, where theme.css looks: "dark large still", or nothing. */
export const serializeAppearance = ({ theme, text, motion }: Appearance): string =>
  [theme, text, motion].filter((word) => word !== "system" && word !== "normal").join(" ");

/**
 * Puts what was chosen on the root, and the colour of the browser's own bar with it, of which a document names first the
 * light and then the dark one. Its text is also the inline script that runs before the first paint: it uses nothing
 * from around it.
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
// What could not be stored (storage is full or forbidden): it lasts as long as the page.
let unstoredText: string | undefined;
let cachedAppearance: { look: string; appearance: Appearance } | undefined;

const readAppearanceText = (): string => {
  try {
    return unstoredText ?? localStorage.getItem(appearanceKey) ?? "";
  } catch {
    return unstoredText ?? "";
  }
};

/** The same object as long as nothing changed. */
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

/** Shows what is chosen here, also when it is chosen in another tab, or was while this page lay in the browser's memory. */
export const syncAppearance = (): void => {
  applyAppearance(readAppearanceText());
  addEventListener("storage", ({ key }) => {
    if (key === appearanceKey || key === null) refreshAppearance();
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) refreshAppearance();
  });
};

/** Whether nothing is to move that need not: by the choice here or by the system's. */
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
