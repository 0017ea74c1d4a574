import { type ComponentType, use } from "react";

/** A screen's code could not be fetched: no network on the first visit, or a newer release took the place of this one. */
export class ScreenUnavailable extends Error {}

/** A screen whose code is fetched when it is first needed. */
export type LazyScreen = {
  /** Fetches the code ahead; never rejects. */
  preload: () => Promise<void>;
  /** The component, or the promise of it. */
  get: () => ComponentType | Promise<ComponentType>;
};

/** What to forget so that the next render asks for the code again. */
const failed = new Set<() => void>();

export const forgetFailedScreens = (): void => {
  for (const forget of failed) forget();
  failed.clear();
};

/** Like React's `lazy`, but a failure can be tried again and code that is already here renders without waiting. */
export const lazyScreen = (load: () => Promise<{ default: ComponentType }>): LazyScreen => {
  let loaded: ComponentType | undefined;
  let underway: Promise<ComponentType> | undefined;
  const forget = () => {
    underway = undefined;
  };
  const start = () => {
    underway ??= load().then(
      (module) => {
        loaded = module.default;
        return module.default;
      },
      (cause: unknown) => {
        failed.add(forget);
        throw new ScreenUnavailable("the screen's code could not be fetched", { cause });
      },
    );
    return underway;
  };
  return { preload: () => start().then(() => undefined, forget), get: () => loaded ?? start() };
};

export function Lazy({ screen }: { screen: LazyScreen }) {
  const code = screen.get();
  const Screen = code instanceof Promise ? use(code) : code;
  return <Screen />;
}
