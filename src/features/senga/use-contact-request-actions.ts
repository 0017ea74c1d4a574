import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { showToast } from "#components/overlays/toast.tsx";
import type { Uuid } from "#contract/ids.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { acceptReceivedRequest, declineReceivedRequest, sendContactRequest } from "#sync/people/contact-commands.ts";

export type RequestPerson = { id: Uuid; username: string };
/** What is under way with a person, so that only that button turns. */
export type ContactRequestAction = "add" | "accept" | "decline";

/** Sending, accepting and declining requests, each with its outcome said (SPEC.md §8). */
export const useContactRequestActions = () => {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [underway, setUnderway] = useState<ReadonlyMap<Uuid, ContactRequestAction>>(new Map());

  const run = async (
    person: RequestPerson,
    deed: ContactRequestAction,
    work: () => Promise<void>,
    done: Parameters<typeof showToast>[0],
  ): Promise<void> => {
    setUnderway((before) => new Map(before).set(person.id, deed));
    try {
      await work();
      showToast(done);
    } catch (error) {
      showToast({ title: t("common.error"), message: toErrorText(error, t), tone: "danger" });
    } finally {
      setUnderway((before) => {
        const after = new Map(before);
        after.delete(person.id);
        return after;
      });
    }
  };
  const nameOf = (person: RequestPerson) => ({ name: isolateBidi(person.username || t("common.user")) });

  return {
    underway,
    add: (person: RequestPerson) =>
      run(person, "add", () => sendContactRequest(person.id), {
        message: t("senga.requestSentSuccess", nameOf(person)),
      }),
    accept: (person: RequestPerson, requestId: Uuid) =>
      run(person, "accept", () => acceptReceivedRequest(person.id, requestId), {
        message: t("senga.requestAccepted", nameOf(person)),
        action: { label: t("senga.message"), onSelect: () => navigate(`/app/chat/${person.id}`) },
      }),
    decline: (person: RequestPerson, requestId: Uuid) =>
      run(person, "decline", () => declineReceivedRequest(person.id, requestId), {
        message: t("senga.requestDeclined", nameOf(person)),
      }),
  };
};
export type ContactRequestActions = ReturnType<typeof useContactRequestActions>;
