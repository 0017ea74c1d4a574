import { useEffect } from "react";
import { useNavigate } from "react-router";
import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";

/** Explains in a toast why the screen is not available and returns to the conversation list (SPEC.md §8). */
export function RedirectWithNotice({ message, isError }: { message: string; isError: boolean }) {
  const navigate = useNavigate();
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once
  useEffect(() => {
    showToast(isError ? { tone: "danger", title: t("common.error"), message } : { message });
    navigate("/app", { replace: true });
  }, []);
  return null;
}
