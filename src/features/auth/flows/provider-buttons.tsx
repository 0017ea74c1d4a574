import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { listPageProviders } from "#lib/factors/providers.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";

/** OAuth provider buttons below a form; renders nothing if the page lists no provider. */
export function ProviderButtons({ onFailed }: { onFailed: (error: unknown) => void }) {
  const { t } = useTranslation();
  const [redirectingTo, setRedirectingTo] = useState<string>();
  const providers = listPageProviders();

  const redirect = async (id: string) => {
    if (redirectingTo !== undefined) return;
    setRedirectingTo(id);
    try {
      const { startProviderSignIn } = await import("#lib/factors/oauth.ts").catch(() => {
        throw new ApiRequestError("offline", 0);
      });
      await startProviderSignIn(id);
    } catch (error) {
      setRedirectingTo(undefined);
      onFailed(error);
    }
  };

  useEffect(() => {
    // Browser "back" may restore the page from the back/forward cache with the button still busy.
    const onPageShow = (event: PageTransitionEvent) => {
      if (event.persisted) setRedirectingTo(undefined);
    };
    addEventListener("pageshow", onPageShow);
    return () => removeEventListener("pageshow", onPageShow);
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
            <Button
              variant="secondary"
              className="w-full"
              busy={redirectingTo === id}
              onClick={() => void redirect(id)}
            >
              {t("auth.continueWith", { name })}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
