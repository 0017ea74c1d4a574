import { type ComponentType, use } from "react";
import { loadWithTexts } from "#i18n/setup.ts";

/**
 * Error thrown when a screen's code cannot be fetched: no network on the first visit, or a newer release replaced this
 * one.
 */
export class ScreenUnavailable extends Error {}

/** Screen whose code and texts are fetched on first use. */
export type LazyScreen = {
  /** Fetches the code in advance; never rejects. */
  preload: () => Promise<unknown>;
  /** Fetches the code in advance; rejects if it cannot be fetched now. */
  load: () => Promise<unknown>;
  get: () => Promise<ComponentType>;
};

/** Resets of failed screens: each makes the next render request the code again. */
const failedScreens = new Set<() => void>();

export const resetFailedScreens = (): void => {
  for (const reset of failedScreens) reset();
  failedScreens.clear();
};

/**
 * Screen whose texts are loaded with the app. Like React's `lazy`, but a failed load can be retried, and code that is
 * already loaded renders synchronously.
 */
export const createScreen = (fetchCode: () => Promise<{ default: ComponentType }>): LazyScreen => {
  let pending: Promise<ComponentType> | undefined;
  const reset = () => {
    pending = undefined;
  };
  const get = () => {
    if (pending) return pending;
    const code: Promise<ComponentType> & { status?: string; value?: ComponentType } = fetchCode().then(
      (module) => {
        // React's `use` reads these two properties: loaded code renders at once, without showing the fallback.
        code.status = "fulfilled";
        code.value = module.default;
        return module.default;
      },
      (cause: unknown) => {
        failedScreens.add(reset);
        throw new ScreenUnavailable("the screen's code could not be fetched", { cause });
      },
    );
    pending = code;
    return code;
  };
  const load = () =>
    get().catch((error: unknown) => {
      reset();
      throw error;
    });
  return { preload: () => load().catch(() => undefined), load, get };
};

/** Screen with texts of its own. */
export const createLazyScreen = (fetchCode: () => Promise<{ default: ComponentType }>): LazyScreen =>
  createScreen(() => loadWithTexts(fetchCode));

export function LazyScreenView({ screen }: { screen: LazyScreen }) {
  const Screen = use(screen.get());
  return <Screen />;
}
