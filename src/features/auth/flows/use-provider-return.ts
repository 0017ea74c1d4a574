import { useEffect, useEffectEvent, useState } from "react";
import { showToast } from "#components/overlays/toast.tsx";
import { t as now } from "#i18n/setup.ts";
import { ApiFailure } from "#lib/http/http-request.ts";
import type { Opened } from "#lib/session/session.ts";

type Use = { onOpened: (opened: Opened) => Promise<void>; onFailed: (error: unknown) => void };

/** Goes on with whoever comes back from a provider: signed in, to the registration, or told why not. */
export const useProviderReturn = ({ onOpened, onFailed }: Use): { isReturning: boolean } => {
  const [isReturning, setReturning] = useState(false);

  const finish = useEffectEvent(async () => {
    setReturning(true);
    try {
      const { finishSignIn } = await import("#lib/factors/oauth.ts").catch(() => {
        throw new ApiFailure("offline", 0);
      });
      const end = await finishSignIn();
      if (end === "cancelled") showToast({ message: now("auth.providerCancelled") });
      else if (end) return await onOpened(end);
    } catch (error) {
      if (error instanceof ApiFailure && error.code === "phone_needed") return location.replace("/register");
      onFailed(error);
    }
    setReturning(false);
  });

  useEffect(() => {
    if (/[?&](code|error)=/.test(location.search)) void finish();
  }, []);

  return { isReturning };
};
