import type { CallNotice } from "#calls/views.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { toDisplayName } from "#components/people/person-name.ts";
import { type Translate, t } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { activeEngine } from "#sync/engine.ts";

const readPeerName = async (peer: string): Promise<string> => {
  const person = await activeEngine.get()?.tab.context.get()?.store.people.get(peer);
  return isolateBidi(person?.username || person?.phone || toDisplayName(person, t));
};

type CallNoticeText = { tone?: "danger"; title: string; message?: string };

/** What a saying says, in SPEC.md's words (§8, Calls). */
export const toCallNoticeText = (
  { notice, error }: CallNotice,
  name: string,
  t: Translate,
  isCaller = true,
): CallNoticeText => {
  const why = error && t(`errors.${error}`);
  // On another device of theirs, of which the server alone knows.
  if (notice === "failed" && error === "call_in_progress")
    return { title: t("calls.say.inProgress"), message: t("calls.say.elsewhereBody") };
  switch (notice) {
    case "inProgress":
      return { title: t("calls.say.inProgress"), message: t("calls.say.inProgressBody") };
    case "rejected":
      return {
        title: t("calls.say.rejected"),
        message: t(isCaller ? "calls.say.rejectedByThem" : "calls.say.rejectedByMe", { name }),
      };
    case "unanswered":
      return { title: t("calls.say.unanswered"), message: t("calls.say.unansweredBody", { name }) };
    case "busy":
      return { title: t("calls.say.busy"), message: t("calls.say.busyBody", { name }) };
    case "called":
      return { title: t("calls.say.called", { name }) };
    case "failed": {
      const message = error === "unavailable" ? t("calls.say.notCreated") : (why ?? t("calls.say.failedBody"));
      return { tone: "danger", title: t("calls.say.failed"), message };
    }
    case "acceptFailed": {
      const isWithoutCall = error === undefined || error === "unavailable";
      return {
        tone: "danger",
        title: t("calls.say.acceptFailed"),
        message: isWithoutCall ? t("calls.say.callMissing") : why,
      };
    }
    case "error":
      return { tone: "danger", title: t("calls.say.error"), message: why ?? t("calls.say.errorBody", { name }) };
  }
};

/** As a toast, where no card tells it. */
export const showCallNoticeToast = async (saying: CallNotice, isCaller: boolean): Promise<void> => {
  const name = await readPeerName(saying.peer).catch(() => t("common.user"));
  showToast(toCallNoticeText(saying, name, t, isCaller));
};
