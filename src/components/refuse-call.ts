import { t } from "../i18n/setup";
import { isolate } from "../lib/isolate";
import { showToast } from "./toast";

/** Somebody I block is not called: that they could not call back would be hard to explain. */
export const refuseBlocked = (name: string): void =>
  showToast({ tone: "danger", title: t("people.unblockToCall", { name: isolate(name) }) });
