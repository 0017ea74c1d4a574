import { dialCall } from "#calls/call-state.ts";
import type { CallNotice } from "#calls/views.ts";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { toDisplayName, toNameOrNumber } from "#components/people/person-name.ts";
import type { CallKind } from "#contract/calls/call.ts";
import { privateConversationId, type Uuid } from "#contract/ids.ts";
import { type Translate, t } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { confirmNumberNotice } from "#sync/actions/contacts.ts";
import { currentEngine } from "#sync/engine/engine.ts";

const readPeerName = async (peer: string): Promise<string> => {
  const person = await currentEngine.get()?.client.context.get()?.store.people.get(peer);
  return isolateBidi((person && toNameOrNumber(person)) || toDisplayName(person, t));
};

type CallNoticeText = { tone?: "danger"; title: string; message?: string };

/** Text of a call notice (SPEC.md §8, Calls). */
export const toCallNoticeText = ({ notice, error }: CallNotice, name: string, t: Translate): CallNoticeText => {
  const errorText = error && t(`errors.${error}`);
  // The person is in a call on another of their devices, which only the server knows.
  if (notice === "failed" && error === "call_in_progress")
    return { title: t("calls.say.inProgress"), message: t("calls.say.elsewhereBody") };
  switch (notice) {
    case "inProgress":
      return { title: t("calls.say.inProgress"), message: t("calls.say.inProgressBody") };
    case "rejected":
      return { title: t("calls.say.rejected"), message: t("calls.say.rejectedByThem", { name }) };
    case "unanswered":
      return { title: t("calls.say.unanswered"), message: t("calls.say.unansweredBody", { name }) };
    case "busy":
      return { title: t("calls.say.busy"), message: t("calls.say.busyBody", { name }) };
    case "called":
      return { title: t("calls.say.called", { name }) };
    case "failed": {
      const message = error === "unavailable" ? t("calls.say.notCreated") : (errorText ?? t("calls.say.failedBody"));
      return { tone: "danger", title: t("calls.say.failed"), message };
    }
    case "acceptFailed": {
      const isCallMissing = error === undefined || error === "unavailable";
      return {
        tone: "danger",
        title: t("calls.say.acceptFailed"),
        message: isCallMissing ? t("calls.say.callMissing") : errorText,
      };
    }
    case "error":
      return { tone: "danger", title: t("calls.say.error"), message: errorText ?? t("calls.say.errorBody", { name }) };
  }
};

/** Dials after the person has confirmed that the peer's number is somebody else's. */
const confirmAndDial = async (peer: Uuid, kind: CallKind): Promise<void> => {
  const me = currentEngine.get()?.userId;
  const isConfirmed = await runWithToast(() => confirmNumberNotice(peer), {
    failed: t("number.notice.confirmFailed"),
  });
  if (me && isConfirmed) void dialCall({ conversation: privateConversationId(me, peer), peer, kind });
};

/** Whether the chat with the other person is open, where the call's entry says what the notice says. */
const isShownByEntry = ({ notice, peer }: CallNotice): boolean =>
  (notice === "rejected" || notice === "unanswered" || notice === "busy") && location.pathname === `/app/chat/${peer}`;

/** Shows a call notice as a toast, where no end card shows it. */
export const showCallNoticeToast = async (notice: CallNotice): Promise<void> => {
  const name = await readPeerName(notice.peer).catch(() => t("common.user"));
  const { error, peer, kind } = notice;
  if (error === "number_unconfirmed" && kind) {
    const action = { label: t("number.notice.confirm"), onSelect: () => void confirmAndDial(peer, kind) };
    showToast({ tone: "danger", title: t("number.notice.left", { name }), action });
    return;
  }
  showToast({ ...toCallNoticeText(notice, name, t), isShownByScreen: isShownByEntry(notice) });
};
