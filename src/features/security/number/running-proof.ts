import { useCallback, useEffect, useState } from "react";
import * as v from "valibot";
import {
  NewNumberMethods,
  type NumberMethod,
  NumberProof,
  numberMethods,
  type OwnNumber,
} from "#contract/auth/number.ts";
import type { OwnVouching } from "#contract/auth/vouching.ts";
import type { Uuid } from "#contract/ids.ts";
import { getSession } from "#lib/session/session.ts";
import { toStoreName } from "#sync/store/database.ts";

const RunningProof = v.object({
  target: NewNumberMethods,
  isNew: v.boolean(),
  method: v.picklist(numberMethods),
  proof: NumberProof,
  startedAt: v.number(), // by this device's clock
  isAside: v.optional(v.boolean()), // the person looks at the other methods; choosing the same one again resumes it
});
/** Started proof, and what it is for: the own number, or a new one in its place if `isNew`. */
export type RunningProof = v.InferOutput<typeof RunningProof>;

/** Key in localStorage. It begins with the name of the person's store, so that signing out removes it. */
const toKey = (me: Uuid): string => `${toStoreName(me)}-number-proof`;
const getKey = (): string | undefined => {
  const me = getSession()?.userId;
  return me && toKey(me);
};

const readRunningProof = (): RunningProof | undefined => {
  try {
    const key = getKey();
    const stored = v.safeParse(RunningProof, JSON.parse((key && localStorage.getItem(key)) ?? "null"));
    return stored.success && stored.output.proof.expires_at > Date.now() ? stored.output : undefined;
  } catch {
    return undefined;
  }
};

const storeRunningProof = (running: RunningProof | undefined): void => {
  try {
    const key = getKey();
    if (key && running) localStorage.setItem(key, JSON.stringify(running));
    else if (key) localStorage.removeItem(key);
  } catch {
    // Without storage the proof is shown until the page is closed.
  }
};

/** Removes the stored copy of a proof that has ended; what the page shows stays. */
export const forgetRunningProof = (): void => storeRunningProof(undefined);

/** Whether a proof of this number has ended, with the number verified or refused. */
export const isOver = (own: OwnNumber, phone: string, method: NumberMethod): boolean =>
  own.refused_method !== null ||
  (own.phone === phone &&
    own.verified_at !== null &&
    own.contested_until === null &&
    (method === "vouching" || !own.is_vouched));

/** Continues a vouching here that another device has started. */
export const adoptVouching = ({ own: proof, phone }: OwnVouching): void => {
  const target = { phone, methods: ["vouching" as const] };
  storeRunningProof({ target, isNew: false, method: "vouching", proof, startedAt: Date.now() });
};

/** Forgets the stored proof if this state of the own number is its end. */
export const forgetEndedProof = (own: OwnNumber): void => {
  const running = readRunningProof();
  if (running && isOver(own, running.target.phone, running.method)) forgetRunningProof();
};

/**
 * Proof that this browser has started and its person has not completed. It outlives a reload, since cheap phones close
 * the page while the person reads the code in another app, and is the same in all tabs.
 */
export const useRunningProof = (
  onChangedElsewhere: () => void,
): [running: RunningProof | undefined, setRunning: (running: RunningProof | undefined) => void] => {
  const [running, setRunning] = useState(readRunningProof);
  useEffect(() => {
    const handleStorage = ({ key }: StorageEvent) => {
      if (key !== getKey()) return;
      setRunning(readRunningProof());
      onChangedElsewhere();
    };
    addEventListener("storage", handleStorage);
    return () => removeEventListener("storage", handleStorage);
  }, [onChangedElsewhere]);
  const change = useCallback((next: RunningProof | undefined) => {
    storeRunningProof(next);
    setRunning(next);
  }, []);
  return [running, change];
};
