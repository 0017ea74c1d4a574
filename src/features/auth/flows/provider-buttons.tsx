import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { listPageProviders } from "#lib/factors/providers.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";

/** The other ways in, below a form; nothing where there are none. */
export function ProviderButtons({ onFailed }: { onFailed: (error: unknown) => void }) {
  const { t } = useTranslation();
  const [leavingFor, setLeavingFor] = useState<string>();
  const providers = listPageProviders();

  const leave = async (id: string) => {
    if (leavingFor !== undefined) return;
    setLeavingFor(id);
    try {
      const { startProviderSignIn: continueWith } = await import("#lib/factors/oauth.ts").catch(() => {
        throw new ApiRequestError("offline", 0);
      });
      await continueWith(id);
    } catch (error) {
      setLeavingFor(undefined);
      onFailed(error);
    }
  };

  useEffect(() => {
    // The browser's "back" may bring the page as it was left.
    const comeBack = (event: PageTransitionEvent) => {
      if (event.persisted) setLeavingFor(undefined);
    };
    addEventListener("pageshow", comeBack);
    return () => removeEventListener("pageshow", comeBack);
  }, []);

  if (providers.length === 0) return null;
  return (
    <div className="mt-6">
      <p className="flex items-center gap-4 text-sm text-muted">
        <span className="h-px flex-1 bg-line" aria-hidden="true" />
        {t("auth.orElse")}
        <span className="h-px flex-1 bg-line" aria-hidden="true" />
      </p>
      <ul className="mt-4 flex flex-col gap-3">
        {providers.map(({ id, name }) => (
          <li key={id} data-provider={id}>
            <Button variant="secondary" className="w-full" busy={leavingFor === id} onClick={() => void leave(id)}>
              {t("auth.continueWith", { name })}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
