import { type ComponentType, type ReactNode, useEffect, useState } from "react";

type LoadComponent<Props> = () => Promise<{ default: ComponentType<Props> }>;

const lazyRetryMinMs = 1_000;
const lazyRetryMaxMs = 30_000;

/**
 * Component whose code is fetched on first render, with `fallback` shown until then. Unlike React's `lazy` it renders
 * as soon as the code is loaded, and a failed fetch does not fail the screen: it is retried with a growing delay, when
 * another instance mounts, and when the network returns.
 */
export const lazyComponent = <Props extends object>(load: LoadComponent<Props>) => {
  let code: ComponentType<Props> | undefined;
  let isFetching = false;
  let endPause = () => {};
  const mounted = new Set<() => void>();

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => endPause(), ms);
      endPause = () => {
        clearTimeout(timer);
        removeEventListener("online", endPause);
        endPause = () => {};
        resolve();
      };
      addEventListener("online", endPause);
    });

  const fetchCode = async (): Promise<void> => {
    endPause();
    if (isFetching) return;
    isFetching = true;
    for (let ms = lazyRetryMinMs; !code && mounted.size > 0; ms = Math.min(2 * ms, lazyRetryMaxMs)) {
      code = (await load().catch(() => undefined))?.default;
      if (!code) await pause(ms);
    }
    isFetching = false;
    for (const handleLoaded of mounted) handleLoaded();
  };

  // biome-ignore lint/correctness/noComponentHookFactories: called once per component, at module level
  return function LazyComponent({ fallback, ...props }: Props & { fallback?: ReactNode }) {
    const [, setLoaded] = useState(code !== undefined);
    useEffect(() => {
      const handleLoaded = () => setLoaded(true);
      if (code) return handleLoaded(); // loaded between render and effect
      mounted.add(handleLoaded);
      void fetchCode();
      return () => {
        mounted.delete(handleLoaded);
      };
    }, []);
    if (!code) return fallback ?? null;
    const Code = code;
    return <Code {...(props as unknown as Props)} />;
  };
};
