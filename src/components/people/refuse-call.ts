import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";
import { isolate } from "#lib/text/bidi.ts";

/** Somebody I block is not called: that they could not call back would be hard to explain. */
export const refuseBlocked = (name: string): void =>
  showToast({ tone: "danger", title: t("people.unblockToCall", { name: isolate(name) }) });
