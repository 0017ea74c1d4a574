import { useEffect, useEffectEvent, useState } from "react";

type Loading<T> = {
  /** Loaded last; undefined before the first time. It stays while it is loaded again, and if that fails. */
  value: T | undefined;
  /** Reason of the last failure; undefined after a success. */
  failure: unknown;
  /** Replaces the value, for example by one with another page. */
  change: (change: (value: T) => T) => void;
  /** Loads again and shows the failure until then. */
  repeat: () => void;
  /** Forgets the failure and loads again. */
  retry: () => void;
};

/**
 * Loads something on mount and whenever `key`, which stands for what `load` loads, changes. The answer to an older key
 * is ignored, and its signal aborted. An undefined key loads nothing.
 */
export const useLoaded = <T>(key: string | undefined, load: (signal: AbortSignal) => Promise<T>): Loading<T> => {
  const [{ value, failure }, setResult] = useState<{ value?: T; failure?: unknown }>({});
  const [attempt, setAttempt] = useState(0);
  const startLoading = useEffectEvent((signal: AbortSignal) => load(signal));
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt loads the same again
  useEffect(() => {
    if (key === undefined) return;
    const controller = new AbortController();
    const { signal } = controller;
    startLoading(signal).then(
      (loaded) => !signal.aborted && setResult({ value: loaded }),
      (error: unknown) => !signal.aborted && setResult((before) => ({ ...before, failure: error })),
    );
    return () => controller.abort();
  }, [key, attempt]);
  const repeat = () => setAttempt((before) => before + 1);
  return {
    value,
    failure,
    change: (change) =>
      setResult((before) => (before.value === undefined ? before : { ...before, value: change(before.value) })),
    repeat,
    retry: () => {
      setResult(({ value }) => (value === undefined ? {} : { value }));
      repeat();
    },
  };
};
