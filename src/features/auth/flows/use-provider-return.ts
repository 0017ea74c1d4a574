import { useEffect, useEffectEvent, useState } from "react";
import { showToast } from "#components/overlays/toast.tsx";
import { t as translate } from "#i18n/setup.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";
import type { OpenedSession } from "#lib/session/session.ts";

type ProviderReturnOptions = { onOpened: (opened: OpenedSession) => Promise<void>; onFailed: (error: unknown) => void };

/** Handles the return from an OAuth provider: completes the sign-in, opens the registration, or reports the failure. */
export const useProviderReturn = ({ onOpened, onFailed }: ProviderReturnOptions): { isReturning: boolean } => {
  const [isReturning, setReturning] = useState(false);

  const handleReturn = useEffectEvent(async () => {
    setReturning(true);
    try {
      const { finishProviderSignIn } = await import("#lib/factors/oauth.ts").catch(() => {
        throw new ApiRequestError("offline", 0);
      });
      const result = await finishProviderSignIn();
      if (result === "cancelled") showToast({ message: translate("auth.providerCancelled") });
      else if (result) return await onOpened(result);
    } catch (error) {
      if (error instanceof ApiRequestError && error.code === "phone_needed") return location.replace("/register");
      onFailed(error);
    }
    setReturning(false);
  });

  useEffect(() => {
    if (/[?&](code|error)=/.test(location.search)) void handleReturn();
  }, []);

  return { isReturning };
};
