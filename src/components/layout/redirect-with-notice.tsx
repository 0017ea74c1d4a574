import { useEffect, useEffectEvent } from "react";
import { useNavigate } from "react-router";
import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";

type RedirectWithNoticeProps = { message: string; isError: boolean; path?: string };

/** Explains in a toast why the screen is not available, and returns to the list (SPEC.md §8) or to `path`. */
export function RedirectWithNotice({ message, isError, path = "/app" }: RedirectWithNoticeProps) {
  const navigate = useNavigate();
  const redirect = useEffectEvent(() => {
    showToast(isError ? { tone: "danger", title: t("common.error"), message } : { message });
    navigate(path, { replace: true });
  });
  useEffect(() => redirect(), []);
  return null;
}
