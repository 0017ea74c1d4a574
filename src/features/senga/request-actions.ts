import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { showToast } from "#components/overlays/toast.tsx";
import type { Uuid } from "#contract/ids.ts";
import { failureText } from "#lib/http/error-text.ts";
import { isolate } from "#lib/text/bidi.ts";
import { acceptRequest, declineRequest, sendRequest } from "#sync/people/contact-commands.ts";

export type Somebody = { id: Uuid; username: string };
/** What is under way with a person, so that only that button turns. */
export type Deed = "add" | "accept" | "decline";

/** Sending, accepting and declining requests, each with its outcome said (SPEC.md §8). */
export const useRequestActions = () => {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [underway, setUnderway] = useState<ReadonlyMap<Uuid, Deed>>(new Map());

  const run = async (
    person: Somebody,
    deed: Deed,
    work: () => Promise<void>,
    done: Parameters<typeof showToast>[0],
  ): Promise<void> => {
    setUnderway((before) => new Map(before).set(person.id, deed));
    try {
      await work();
      showToast(done);
    } catch (error) {
      showToast({ title: t("common.error"), message: failureText(error, t), tone: "danger" });
    } finally {
      setUnderway((before) => {
        const after = new Map(before);
        after.delete(person.id);
        return after;
      });
    }
  };
  const nameOf = (person: Somebody) => ({ name: isolate(person.username || t("common.user")) });

  return {
    underway,
    add: (person: Somebody) =>
      run(person, "add", () => sendRequest(person.id), { message: t("senga.requestSentSuccess", nameOf(person)) }),
    accept: (person: Somebody, requestId: Uuid) =>
      run(person, "accept", () => acceptRequest(person.id, requestId), {
        message: t("senga.requestAccepted", nameOf(person)),
        action: { label: t("senga.message"), onSelect: () => navigate(`/app/chat/${person.id}`) },
      }),
    decline: (person: Somebody, requestId: Uuid) =>
      run(person, "decline", () => declineRequest(person.id, requestId), {
        message: t("senga.requestDeclined", nameOf(person)),
      }),
  };
};
export type RequestActions = ReturnType<typeof useRequestActions>;
