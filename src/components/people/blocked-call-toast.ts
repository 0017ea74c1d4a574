import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";

/** Toast shown instead of calling a blocked person: they could not call back, which would be hard to explain. */
export const showBlockedCallToast = (name: string): void =>
  showToast({ tone: "danger", title: t("people.unblockToCall", { name: isolateBidi(name) }) });
