import type { CallSaying } from "../../calls/views";
import { showToast } from "../../components/toast";
import { t } from "../../i18n/setup";
import { isolate } from "../../lib/isolate";
import { running } from "../../sync/engine";

const nameOf = async (peer: string): Promise<string> => {
  const person = await running.get()?.tab.context.get()?.store.people.get(peer);
  return isolate(person?.username || person?.phone || t("common.user"));
};

/** What there is to tell of calls besides their screen, in SPEC.md's toasts (§8, Calls). */
export const tellSaying = async ({ notice, error, peer }: CallSaying): Promise<void> => {
  const name = await nameOf(peer).catch(() => t("common.user"));
  const why = error && t(`errors.${error}`);
  switch (notice) {
    case "inProgress":
      return showToast({ title: t("calls.say.inProgress"), message: t("calls.say.inProgressBody") });
    case "rejected":
      return showToast({ title: t("calls.say.rejected"), message: name });
    case "unanswered":
      return showToast({ title: t("calls.say.unanswered"), message: t("calls.say.unansweredBody", { name }) });
    case "busy":
      return showToast({ title: t("calls.say.busy"), message: t("calls.say.busyBody", { name }) });
    case "failed":
      return showToast({ tone: "danger", title: t("calls.say.failed"), message: why ?? t("calls.say.failedBody") });
    case "acceptFailed":
      return showToast({ tone: "danger", title: t("calls.say.acceptFailed"), ...(why ? { message: why } : {}) });
    case "error":
      return showToast({
        tone: "danger",
        title: t("calls.say.error"),
        message: why ?? t("calls.say.errorBody", { name }),
      });
  }
};
