import { type ComponentType, type ReactNode, useEffect, useState } from "react";

/**
 * A component whose code is fetched when one is first shown, with `fallback` in its place until then. Unlike
 * React's `lazy` it appears as soon as the code is here, and what could not be fetched is asked for again by
 * the next one shown instead of failing the screen around it.
 */
export const late = <Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>) => {
  let code: ComponentType<Props> | undefined;
  // biome-ignore lint/correctness/noComponentHookFactories: each is made once, beside the imports
  return function Late({ fallback, ...props }: Props & { fallback?: ReactNode }) {
    const [, setArrived] = useState(code !== undefined);
    useEffect(() => {
      if (code) {
        setArrived(true); // it came between drawing and this
        return;
      }
      let isWanted = true;
      load().then(
        (module) => {
          code = module.default;
          if (isWanted) setArrived(true);
        },
        () => undefined, // without network: the next one shown asks again
      );
      return () => {
        isWanted = false;
      };
    }, []);
    if (!code) return fallback ?? null;
    const Code = code;
    return <Code {...(props as unknown as Props)} />;
  };
};
