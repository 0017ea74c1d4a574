import { useEffect, useEffectEvent, useState } from "react";
import { showToast } from "#components/overlays/toast.tsx";
import { t as now } from "#i18n/setup.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";
import type { OpenedSession } from "#lib/session/session.ts";

type ProviderReturnOptions = { onOpened: (opened: OpenedSession) => Promise<void>; onFailed: (error: unknown) => void };

/** Goes on with whoever comes back from a provider: signed in, to the registration, or told why not. */
export const useProviderReturn = ({ onOpened, onFailed }: ProviderReturnOptions): { isReturning: boolean } => {
  const [isReturning, setReturning] = useState(false);

  const finish = useEffectEvent(async () => {
    setReturning(true);
    try {
      const { finishProviderSignIn: finishSignIn } = await import("#lib/factors/oauth.ts").catch(() => {
        throw new ApiRequestError("offline", 0);
      });
      const end = await finishSignIn();
      if (end === "cancelled") showToast({ message: now("auth.providerCancelled") });
      else if (end) return await onOpened(end);
    } catch (error) {
      if (error instanceof ApiRequestError && error.code === "phone_needed") return location.replace("/register");
      onFailed(error);
    }
    setReturning(false);
  });

  useEffect(() => {
    if (/[?&](code|error)=/.test(location.search)) void finish();
  }, []);

  return { isReturning };
};
