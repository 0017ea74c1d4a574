import { useState } from "react";
import * as v from "valibot";
import type { Uuid } from "../../../contract/ids";
import { Relation } from "../../../contract/people";
import { showToast } from "../../components/toast";
import { useT } from "../../i18n/setup";
import { request } from "../../lib/api";
import { failureText } from "../../lib/failure-text";
import { isolate } from "../../lib/isolate";
import { applyRelation } from "../../sync/actions";

export type Somebody = { id: Uuid; username: string };
/** What is under way with a person, so that only that button turns. */
export type Deed = "add" | "accept" | "decline";

const settle = async (path: string, body?: unknown): Promise<void> => {
  await applyRelation(v.parse(Relation, await request("POST", path, body)));
};

/** Sending, accepting and declining requests, each with its outcome said (SPEC.md §8). */
export const useRequestActions = () => {
  const t = useT();
  const [underway, setUnderway] = useState<ReadonlyMap<Uuid, Deed>>(new Map());

  const run = async (person: Somebody, deed: Deed, work: () => Promise<void>, done: string): Promise<void> => {
    setUnderway((before) => new Map(before).set(person.id, deed));
    try {
      await work();
      showToast({ message: done });
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
      run(
        person,
        "add",
        () => settle("/api/requests", { to_user_id: person.id }),
        t("senga.requestSentSuccess", nameOf(person)),
      ),
    accept: (person: Somebody, requestId: Uuid) =>
      run(
        person,
        "accept",
        () => settle(`/api/requests/${requestId}/accept`),
        t("senga.requestAccepted", nameOf(person)),
      ),
    decline: (person: Somebody, requestId: Uuid) =>
      run(
        person,
        "decline",
        () => settle(`/api/requests/${requestId}/decline`),
        t("senga.requestDeclined", nameOf(person)),
      ),
  };
};
export type RequestActions = ReturnType<typeof useRequestActions>;
