import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { Tabs } from "#components/controls/tabs.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { LazyBlockPersonDialog } from "#components/people/lazy-dialogs.ts";
import { toNameOrNumber } from "#components/people/person-name.ts";
import { PersonListItem } from "#components/people/person-row.tsx";
import { useFormat } from "#i18n/use-format.ts";
import { useRequests } from "#sync/hooks/use-people.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { GroupInvitationList } from "./group-invitation-list.tsx";
import { RequestContextList, type RequestContextLookup, useRequestContexts } from "./request-context-list.tsx";
import type { ContactRequestActions } from "./use-contact-request-actions.ts";

/** Side by side if the labels fit, otherwise stacked. */
const answerButtonClass = "flex-1 !min-w-max";

type ReceivedRequestRowProps = { person: PersonRow; contexts: RequestContextLookup; actions: ContactRequestActions };

function ReceivedRequestRow({ person, contexts, actions }: ReceivedRequestRowProps) {
  const { t } = useTranslation();
  const [isConfirming, setConfirming] = useState(false);
  const pendingAction = actions.pending.get(person.id);
  const { requestId } = person;
  const name = toNameOrNumber(person);
  return (
    <li tabIndex={-1} className="flex flex-col gap-3 px-4 py-3 -outline-offset-3">
      <PersonListItem person={person} />
      <RequestContextList person={person} lookup={contexts} />
      {requestId && (
        <div className="flex flex-wrap gap-3">
          <Button
            variant="secondary"
            className={answerButtonClass}
            busy={pendingAction === "block"}
            disabled={pendingAction !== undefined && pendingAction !== "block"}
            aria-label={t("people.blockName", { name })}
            onClick={() => setConfirming(true)}
          >
            {t("people.block")}
          </Button>
          <Button
            variant="secondary"
            className={answerButtonClass}
            busy={pendingAction === "decline"}
            disabled={pendingAction !== undefined && pendingAction !== "decline"}
            aria-label={t("senga.declineName", { name })}
            onClick={() => void actions.decline(person, requestId)}
          >
            {t("senga.decline")}
          </Button>
          <Button
            className={answerButtonClass}
            busy={pendingAction === "accept"}
            disabled={pendingAction !== undefined && pendingAction !== "accept"}
            aria-label={t("senga.acceptName", { name })}
            onClick={() => void actions.accept(person, requestId)}
          >
            {t("senga.accept")}
          </Button>
        </div>
      )}
      {isConfirming && (
        <LazyBlockPersonDialog
          name={name}
          onConfirm={() => {
            setConfirming(false);
            void actions.block(person);
          }}
          onClose={() => setConfirming(false)}
        />
      )}
    </li>
  );
}

function SentRequestRow({ person }: { person: PersonRow }) {
  const { t } = useTranslation();
  const { date } = useFormat();
  return (
    <li className="flex items-center gap-3 px-4 py-3">
      <PersonListItem person={person} note={t("senga.pendingSince", { date: date(person.since) })} />
    </li>
  );
}

/** Received and sent contact requests and received invitations to groups, live. */
export function ContactRequestLists({ actions }: { actions: ContactRequestActions }) {
  const { t } = useTranslation();
  const requests = useRequests();
  const contexts = useRequestContexts(requests?.received ?? []);
  const [tab, setTab] = useState("received");
  if (!requests) return <PaneSpinner />;
  const { received, sent, invitations } = requests;
  return (
    <Tabs
      label={t("senga.requests")}
      value={tab}
      onChange={setTab}
      items={[
        {
          id: "received",
          label: t("senga.received"),
          count: received.length + invitations,
          panel: (
            <div className="divide-y divide-line">
              <GroupInvitationList count={invitations} />
              {received.length > 0 && (
                <ul className="divide-y divide-line">
                  {received.map((person) => (
                    <ReceivedRequestRow key={person.id} person={person} contexts={contexts} actions={actions} />
                  ))}
                </ul>
              )}
              {received.length + invitations === 0 && (
                <EmptyState
                  icon="i-ph-hand-waving"
                  title={t("senga.noReceived.title")}
                  body={t("senga.noReceived.body")}
                />
              )}
            </div>
          ),
        },
        {
          id: "sent",
          label: t("senga.sent"),
          count: sent.length,
          quiet: true,
          panel:
            sent.length === 0 ? (
              <EmptyState icon="i-ph-paper-plane-tilt" title={t("senga.noSent.title")} body={t("senga.noSent.body")} />
            ) : (
              <ul className="divide-y divide-line">
                {sent.map((person) => (
                  <SentRequestRow key={person.id} person={person} />
                ))}
              </ul>
            ),
        },
      ]}
    />
  );
}
