import { type ComponentType, type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";

type LoadComponent<Props> = () => Promise<{ default: ComponentType<Props> }>;

const lazyRetryMinMs = 1_000;
const lazyRetryMaxMs = 30_000;

/**
 * A component whose code is fetched when one is first shown, with `fallback` in its place until then. Unlike
 * React's `lazy` it appears as soon as the code is here, and what could not be fetched is asked for again instead
 * of failing the screen around it: after a while that grows, by the next one shown, and when the network returns.
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

  // biome-ignore lint/correctness/noComponentHookFactories: each is made once, beside the imports
  return function Late({ fallback, ...props }: Props & { fallback?: ReactNode }) {
    const [, setArrived] = useState(code !== undefined);
    useEffect(() => {
      const arrive = () => setArrived(true);
      if (code) return arrive(); // it came between drawing and this
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
 * The same for what somebody opens: where its code cannot be had they are told so and it is closed, and it does not
 * appear a while later over something else they do.
 */
export const lazyOverlay = <Props extends { onClose: () => void }>(load: LoadComponent<Props>) => {
  let code: ComponentType<Props> | undefined;
  // biome-ignore lint/correctness/noComponentHookFactories: each is made once, beside the imports
  return function LateLayer({ fallback, ...rest }: Props & { fallback?: ReactNode }) {
    const props = rest as unknown as Props;
    const [, setArrived] = useState(code !== undefined);
    const close = useEffectEvent(props.onClose);
    useEffect(() => {
      if (code) return setArrived(true); // it came between drawing and this
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
