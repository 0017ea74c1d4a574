import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";

/** Somebody I block is not called: that they could not call back would be hard to explain. */
export const showBlockedCallToast = (name: string): void =>
  showToast({ tone: "danger", title: t("people.unblockToCall", { name: isolateBidi(name) }) });
