import { type ComponentType, use } from "react";
import { loadWithTexts } from "#i18n/setup.ts";

/** A screen's code could not be fetched: no network on the first visit, or a newer release took the place of this one. */
export class ScreenUnavailable extends Error {}

/** A screen whose code and texts are fetched when it is first needed. */
export type LazyScreen = {
  /** Fetches the code ahead; never rejects. */
  preload: () => Promise<void>;
  get: () => Promise<ComponentType>;
};

/** What to forget so that the next render asks for the code again. */
const failedScreens = new Set<() => void>();

export const resetFailedScreens = (): void => {
  for (const forget of failedScreens) forget();
  failedScreens.clear();
};

/** Like React's `lazy`, but a failure can be tried again and code that is already here renders without waiting. */
export const createLazyScreen = (load: () => Promise<{ default: ComponentType }>): LazyScreen => {
  let underway: Promise<ComponentType> | undefined;
  const forget = () => {
    underway = undefined;
  };
  const get = () => {
    if (underway) return underway;
    const code: Promise<ComponentType> & { status?: string; value?: ComponentType } = loadWithTexts(load).then(
      (module) => {
        // React's `use` reads these two: code that is here renders at once, without a pass through the fallback.
        code.status = "fulfilled";
        code.value = module.default;
        return module.default;
      },
      (cause: unknown) => {
        failedScreens.add(forget);
        throw new ScreenUnavailable("the screen's code could not be fetched", { cause });
      },
    );
    underway = code;
    return code;
  };
  return { preload: () => get().then(() => undefined, forget), get };
};

/** A screen whose code comes with the app. */
export const createEagerScreen = (Screen: ComponentType): LazyScreen => {
  const code = Object.assign(Promise.resolve(Screen), { status: "fulfilled", value: Screen });
  return { preload: () => Promise.resolve(), get: () => code };
};

export function LazyScreenView({ screen }: { screen: LazyScreen }) {
  const Screen = use(screen.get());
  return <Screen />;
}
