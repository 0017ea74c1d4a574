import { useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from "react";
import { ceremonySeconds } from "#contract/limits/authentication.ts";
import { isConnectionSlow } from "#lib/browser/network-info.ts";
import { canAutofillPasskeys, canUsePasskeys, signInWithPasskey } from "#lib/factors/passkeys.ts";
import { isSecondFactorExpected } from "#lib/factors/pending-second-factor.ts";
import type { OpenedSession } from "#lib/session/session.ts";

type PasskeySignInOptions = {
  /** Another step is shown instead of the form. */
  isPaused: boolean;
  onOpened: (opened: OpenedSession) => Promise<void>;
  onFailed: (error: unknown) => void;
};

const offerLifetimeMs = (ceremonySeconds - 60) * 1_000; // leaves at least a minute to accept the browser's offer
const subscribeToNothing = () => () => undefined;

/**
 * Passkey sign-in by button and by the browser's autofill in the phone field (conditional mediation). Autofill holds a
 * server challenge, which is renewed when the form is focused after the challenge became old.
 */
export const usePasskeySignIn = ({ isPaused, onOpened, onFailed }: PasskeySignInOptions) => {
  // The prerendered page does not know it.
  const canSignIn = useSyncExternalStore(subscribeToNothing, canUsePasskeys, () => false);
  const [isBusy, setBusy] = useState(false);
  const offeredAt = useRef(0);

  const authenticate = async (conditional: boolean): Promise<void> => {
    try {
      const opened = await signInWithPasskey({ conditional });
      if (opened) await onOpened(opened);
    } catch (error) {
      onFailed(error);
    }
  };

  // A browser runs one WebAuthn request at a time: a new one replaces the previous one.
  const signIn = async (): Promise<void> => {
    setBusy(true);
    await authenticate(false);
    setBusy(false);
  };
  const offerAutofill = useEffectEvent(async (): Promise<void> => {
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
    await authenticate(true);
    // Finished, accepted or not: unless a newer offer started, the next focus may start one.
    if (offeredAt.current === now) offeredAt.current = 0;
  });

  useEffect(() => {
    if (!canSignIn) return;
    const onFocusIn = () => void offerAutofill();
    onFocusIn();
    document.addEventListener("focusin", onFocusIn);
    return () => document.removeEventListener("focusin", onFocusIn);
  }, [canSignIn]);

  return { canSignIn, isBusy, signIn };
};
