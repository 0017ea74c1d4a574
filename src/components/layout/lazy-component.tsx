import { type ComponentType, type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";

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
  let goOn = () => {};
  const shown = new Set<() => void>();

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => goOn(), ms);
      goOn = () => {
        clearTimeout(timer);
        removeEventListener("online", goOn);
        goOn = () => {};
        resolve();
      };
      addEventListener("online", goOn);
    });

  const fetchCode = async (): Promise<void> => {
    goOn();
    if (isFetching) return;
    isFetching = true;
    for (let ms = lazyRetryMinMs; !code && shown.size > 0; ms = Math.min(2 * ms, lazyRetryMaxMs)) {
      code = (await load().catch(() => undefined))?.default;
      if (!code) await pause(ms);
    }
    isFetching = false;
    for (const arrive of shown) arrive();
  };

  // biome-ignore lint/correctness/noComponentHookFactories: called once per component, at module level
  return function Late({ fallback, ...props }: Props & { fallback?: ReactNode }) {
    const [, setArrived] = useState(code !== undefined);
    useEffect(() => {
      const arrive = () => setArrived(true);
      if (code) return arrive(); // loaded between render and effect
      shown.add(arrive);
      void fetchCode();
      return () => {
        shown.delete(arrive);
      };
    }, []);
    if (!code) return fallback ?? null;
    const Code = code;
    return <Code {...(props as unknown as Props)} />;
  };
};

/**
 * Same for overlays that a person opens. If the code cannot be fetched, a toast says so and the overlay closes; it does
 * not open later on top of something else.
 */
export const lazyOverlay = <Props extends { onClose: () => void }>(load: LoadComponent<Props>) => {
  let code: ComponentType<Props> | undefined;
  // biome-ignore lint/correctness/noComponentHookFactories: called once per component, at module level
  return function LateLayer({ fallback, ...rest }: Props & { fallback?: ReactNode }) {
    const props = rest as unknown as Props;
    const [, setArrived] = useState(code !== undefined);
    const close = useEffectEvent(props.onClose);
    useEffect(() => {
      if (code) return setArrived(true); // loaded between render and effect
      let isWanted = true;
      const fetchCode = async () => {
        const module = await loadOrShowToast(load);
        if (module) code = module.default;
        if (!isWanted) return;
        if (module) setArrived(true);
        else close();
      };
      void fetchCode();
      return () => {
        isWanted = false;
      };
    }, []);
    if (!code) return fallback ?? null;
    const Code = code;
    return <Code {...props} />;
  };
};
