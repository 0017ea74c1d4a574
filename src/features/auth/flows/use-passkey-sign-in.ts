import { useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from "react";
import { ceremonySeconds } from "#contract/limits.ts";
import { isConnectionSlow } from "#lib/browser/network-info.ts";
import { canAutofillPasskeys, canUsePasskeys, signInWithPasskey } from "#lib/factors/passkeys.ts";
import { isSecondFactorExpected } from "#lib/factors/pending-second-factor.ts";
import type { OpenedSession } from "#lib/session/session.ts";

type PasskeySignInOptions = {
  /** Something else is asked for in the form's place. */
  isPaused: boolean;
  onOpened: (opened: OpenedSession) => Promise<void>;
  onFailed: (error: unknown) => void;
};

const offerLifetimeMs = (ceremonySeconds - 60) * 1_000; // what is offered may be taken for a minute at least
const subscribeToNothing = () => () => undefined;

/**
 * Signing in by a passkey: by a button, and by what the browser offers in the number's field. Behind the offer waits a
 * question of the server's, which is put anew when somebody comes back to the form after it grew old.
 */
export const usePasskeySignIn = ({ isPaused, onOpened, onFailed }: PasskeySignInOptions) => {
  // Not known where the page is prerendered.
  const canSignIn = useSyncExternalStore(subscribeToNothing, canUsePasskeys, () => false);
  const [isBusy, setBusy] = useState(false);
  const offeredAt = useRef(0);

  const show = async (conditional: boolean): Promise<void> => {
    try {
      const opened = await signInWithPasskey({ conditional });
      if (opened) await onOpened(opened);
    } catch (error) {
      onFailed(error);
    }
  };

  // A browser asks one thing at a time: each question takes the place of the one before.
  const press = async (): Promise<void> => {
    setBusy(true);
    await show(false);
    setBusy(false);
  };
  const offer = useEffectEvent(async (): Promise<void> => {
    const now = Date.now();
    if (
      isPaused ||
      isSecondFactorExpected() ||
      isBusy ||
      now - offeredAt.current < offerLifetimeMs ||
      isConnectionSlow()
    )
      return;
    offeredAt.current = now;
    if (!(await canAutofillPasskeys())) return;
    await show(true);
    // Over, taken or not: unless another one has begun, the next comer gets one.
    if (offeredAt.current === now) offeredAt.current = 0;
  });

  useEffect(() => {
    if (!canSignIn) return;
    const comeBack = () => void offer();
    comeBack();
    document.addEventListener("focusin", comeBack);
    return () => document.removeEventListener("focusin", comeBack);
  }, [canSignIn]);

  return { canSignIn, isBusy, press };
};
