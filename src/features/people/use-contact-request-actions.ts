import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { showToast } from "#components/overlays/toast.tsx";
import type { Uuid } from "#contract/ids.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import {
  acceptReceivedRequest,
  blockPerson,
  declineReceivedRequest,
  sendContactRequest,
} from "#sync/actions/contacts.ts";

export type RequestPerson = { id: Uuid; username: string };
/** Action running for a person; only its button shows a spinner. */
export type ContactRequestAction = "add" | "accept" | "decline" | "block";

/** Sends, accepts and declines contact requests or blocks their senders, each with its result (SPEC.md §8). */
export const useContactRequestActions = () => {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [pending, setPending] = useState<ReadonlyMap<Uuid, ContactRequestAction>>(new Map());

  const run = async (
    person: RequestPerson,
    action: ContactRequestAction,
    command: () => Promise<void>,
    done: Parameters<typeof showToast>[0],
  ): Promise<void> => {
    setPending((before) => new Map(before).set(person.id, action));
    try {
      await command();
      showToast(done);
    } catch (error) {
      showToast({ title: t("common.error"), message: toErrorText(error, t), tone: "danger" });
    } finally {
      setPending((before) => {
        const after = new Map(before);
        after.delete(person.id);
        return after;
      });
    }
  };
  const toNameValue = (person: RequestPerson) => ({ name: isolateBidi(person.username || t("common.user")) });

  return {
    pending,
    add: (person: RequestPerson) =>
      run(person, "add", () => sendContactRequest(person.id), {
        message: t("senga.requestSentSuccess", toNameValue(person)),
        isShownByScreen: true,
      }),
    accept: (person: RequestPerson, requestId: Uuid) =>
      run(person, "accept", () => acceptReceivedRequest(person.id, requestId), {
        message: t("senga.requestAccepted", toNameValue(person)),
        action: { label: t("senga.message"), onSelect: () => navigate(`/app/chat/${person.id}`) },
      }),
    decline: (person: RequestPerson, requestId: Uuid) =>
      run(person, "decline", () => declineReceivedRequest(person.id, requestId), {
        message: t("senga.requestDeclined", toNameValue(person)),
        isShownByScreen: true,
      }),
    block: (person: RequestPerson) =>
      run(person, "block", () => blockPerson(person.id), {
        message: t("people.blocked", toNameValue(person)),
        isShownByScreen: true,
      }),
  };
};
export type ContactRequestActions = ReturnType<typeof useContactRequestActions>;
