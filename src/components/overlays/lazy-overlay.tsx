import { type ComponentType, type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { loadWithIdleTexts, loadWithTexts } from "#i18n/setup.ts";
import { loadOrShowToast } from "./load-with-toast.ts";

type LoadOverlay<Props> = () => Promise<{ default: ComponentType<Props> }>;

/**
 * Overlay that a person opens, whose code is fetched then. If it cannot be fetched, a toast says so and the overlay
 * closes; it does not open later on top of something else.
 */
export const lazyOverlay = <Props extends { onClose: () => void }>(
  load: LoadOverlay<Props>,
  loadWith: typeof loadWithTexts = loadWithTexts,
) => {
  let code: ComponentType<Props> | undefined;
  // biome-ignore lint/correctness/noComponentHookFactories: called once per component, at module level
  return function LazyOverlay({ fallback, ...rest }: Props & { fallback?: ReactNode }) {
    const props = rest as unknown as Props;
    const [, setLoaded] = useState(code !== undefined);
    const close = useEffectEvent(props.onClose);
    useEffect(() => {
      if (code) return setLoaded(true); // loaded between render and effect
      let isMounted = true;
      const fetchCode = async () => {
        const module = await loadOrShowToast(load, loadWith);
        if (module) code = module.default;
        if (!isMounted) return;
        if (module) setLoaded(true);
        else close();
      };
      void fetchCode();
      return () => {
        isMounted = false;
      };
    }, []);
    if (!code) return fallback ?? null;
    const Code = code;
    return <Code {...props} />;
  };
};

/** Same for overlays whose code and texts most pages load soon: the others are not waited for. */
export const lazyIdleOverlay = <Props extends { onClose: () => void }>(load: LoadOverlay<Props>) =>
  lazyOverlay(load, loadWithIdleTexts);
