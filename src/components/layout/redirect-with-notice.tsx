import { useEffect } from "react";
import { useNavigate } from "react-router";
import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";

/** Says why there is nothing to be seen here and leads back to the list (SPEC.md §8). */
export function RedirectWithNotice({ message, isError }: { message: string; isError: boolean }) {
  const navigate = useNavigate();
  // biome-ignore lint/correctness/useExhaustiveDependencies: said once
  useEffect(() => {
    showToast(isError ? { tone: "danger", title: t("common.error"), message } : { message });
    navigate("/app", { replace: true });
  }, []);
  return null;
}
