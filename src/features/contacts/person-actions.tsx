import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { CallButtons } from "#calls/ui/call-buttons.tsx";
import { Button } from "#components/controls/button.tsx";
import { IconLabel } from "#components/controls/icon-label.tsx";
import { announceResult, showToast } from "#components/overlays/toast.tsx";
import { showBlockedCallToast } from "#components/people/blocked-call-toast.ts";
import { toNameOrNumber } from "#components/people/person-name.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { sendContactRequest } from "#sync/actions/contacts.ts";
import type { PersonRow } from "#sync/store/database.ts";

// No fixed width: a tile is never narrower than its longest word.
const tileClass =
  "flex min-h-18 flex-1 flex-col items-center justify-center gap-1 rounded-card border border-line bg-surface px-1 py-2 text-center text-sm leading-tight font-semibold text-accent hover:bg-raised";

/** Button to send a contact request, or the state of a sent or received one. */
function ContactRequestButton({ person }: { person: PersonRow }) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const sendRequest = async () => {
    setBusy(true);
    try {
      await sendContactRequest(person.id);
      announceResult(t("senga.requestSentSuccess", { name: isolateBidi(person.username || t("common.user")) }));
    } catch (error) {
      showToast({ title: t("common.error"), message: toErrorText(error, t), tone: "danger" });
    }
    setBusy(false);
  };
  if (person.state === "sent") {
    return (
      <Button variant="secondary" disabled>
        {t("senga.requestSent")}
      </Button>
    );
  }
  if (person.state === "received") {
    return (
      <Link
        to="/app/senga"
        className="inline-flex min-h-12 items-center justify-center gap-2 rounded-card bg-accent px-6 font-semibold text-on-accent hover:bg-accent-hover"
      >
        <span className="i-ph-user-check text-xl" aria-hidden="true" />
        {t("chat.acceptRequest")}
      </Link>
    );
  }
  return (
    <Button busy={isBusy} onClick={() => void sendRequest()}>
      <IconLabel icon="i-ph-user-plus" label={t("chat.findPeople")} />
    </Button>
  );
}

/** Message and call buttons (SPEC.md §2). For people who are not contacts they show a notice instead. */
export function PersonActions({ person }: { person: PersonRow }) {
  const { t } = useTranslation();
  const isContact = person.state === "contact";
  const showNotConnected = () =>
    showToast({ tone: "danger", title: t("people.notConnectedTitle"), message: t("people.notConnected") });
  const name = toNameOrNumber(person);
  const refuseCall = person.blocked === 1 ? () => showBlockedCallToast(name) : undefined;
  const message = (
    <>
      <span className="i-ph-chat-circle-dots text-2xl" aria-hidden="true" />
      {t("people.message")}
    </>
  );
  return (
    <>
      <div className="flex flex-wrap gap-2">
        {isContact ? (
          <Link to={`/app/chat/${person.id}`} className={tileClass}>
            {message}
          </Link>
        ) : (
          <button type="button" className={tileClass} onClick={showNotConnected}>
            {message}
          </button>
        )}
        <CallButtons peer={person.id} name={name} refuse={isContact ? refuseCall : showNotConnected} tile={tileClass} />
      </div>
      {!isContact && (
        <div className="flex flex-col gap-3 rounded-card bg-raised p-4 text-center">
          {person.state === "none" && <p>{t("people.notConnected")}</p>}
          <ContactRequestButton person={person} />
        </div>
      )}
    </>
  );
}
