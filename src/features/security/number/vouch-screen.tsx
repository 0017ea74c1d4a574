import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useParams } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import { QrCode } from "#components/images/qr-code.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { PendingContent } from "#components/layout/pending-content.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { Avatar } from "#components/people/avatar.tsx";
import { toDisplayName } from "#components/people/person-name.ts";
import { PhoneNumber } from "#components/people/phone-number.tsx";
import { OpenedVouching, type OwnVouching, type VouchingRequest } from "#contract/auth/vouching.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { deleteKeptLink } from "#lib/session/kept-link.ts";
import { useProfile } from "#sync/hooks/use-people.ts";
import { useRemoteQuery } from "#sync/hooks/use-remote.ts";
import { confirmNumber, toVouchingApiPath } from "./number-api.ts";
import { adoptVouching } from "./running-proof.ts";

const quietLink =
  "inline-flex min-h-12 items-center justify-center rounded-card px-6 py-2 text-center font-semibold text-accent hover:bg-raised";

/** The contact, the number, and the question whether they belong together. */
function Question({ token, request }: { token: string; request: VouchingRequest }) {
  const { t } = useTranslation();
  const [lookup, retry] = useProfile(request.user_id);
  const [answer, setAnswer] = useState<"open" | "sent" | "confirmed">(request.has_confirmed ? "confirmed" : "open");
  const [problem, setProblem] = useState<string>();
  if (lookup.state !== "found") return <PendingContent query={lookup} retry={retry} />;
  const confirm = async () => {
    setAnswer("sent");
    setProblem(undefined);
    try {
      await confirmNumber(token);
      setAnswer("confirmed");
    } catch (error) {
      setProblem(toErrorText(error, t));
      setAnswer("open");
    }
  };
  return (
    <>
      <div className="flex flex-col items-center gap-2 rounded-card border border-line bg-surface p-6 text-center">
        <Avatar person={lookup.person} size={128} />
        <h2 className="max-w-full text-xl font-bold break-words">
          <bdi>{toDisplayName(lookup.person, t)}</bdi>
        </h2>
        <PhoneNumber phone={request.phone} className="text-lg" />
      </div>
      {answer === "confirmed" ? (
        <>
          <p
            ref={request.has_confirmed ? undefined : focusOnMount}
            role="status"
            tabIndex={-1}
            className="flex items-center justify-center gap-2 px-4 font-semibold focus-visible:outline-none"
          >
            <span className="i-ph-seal-check shrink-0 text-2xl text-accent" aria-hidden="true" />
            {t("number.vouching.thanks")}
          </p>
          <Link to="/app" className={quietLink}>
            {t("number.done")}
          </Link>
        </>
      ) : (
        <>
          <p className="px-4 font-semibold text-balance">{t("number.vouching.question")}</p>
          <p className="px-4 text-muted">{t("number.vouching.warning")}</p>
          {problem !== undefined && (
            <p role="alert" className="px-4 text-danger">
              {problem}
            </p>
          )}
          <Button busy={answer === "sent"} onClick={() => void confirm()}>
            {t("number.vouching.confirm")}
          </Button>
          <Link to="/app" className={quietLink}>
            {t("number.vouching.refuse")}
          </Link>
        </>
      )}
    </>
  );
}

/** The person's own code, on whichever of their devices, and the way to its confirmations. */
function OwnCode({ opened }: { opened: OwnVouching }) {
  const { t } = useTranslation();
  const { ask } = opened.own;
  return (
    <div className="flex flex-col gap-4 rounded-card border border-line bg-surface p-4">
      <p role="status" className="text-center font-semibold">
        {t("number.vouching.own")}
      </p>
      {ask.kind === "vouching" && <QrCode svg={ask.qr_code} label={t("number.vouching.qr")} />}
      <p>{t("number.vouching.body")}</p>
      <Link to="/app/verify-number" className={quietLink} onClick={() => adoptVouching(opened)}>
        {t("number.vouching.show")}
      </Link>
    </div>
  );
}

const parseOpened = (body: unknown): OpenedVouching => parseResponse(OpenedVouching, body);

/** Reasons for which another attempt cannot help. */
const finalRefusals: ReadonlySet<string> = new Set([
  "voucher_contact_too_new",
  "voucher_number_too_new",
  "vouches_used_up",
]);

function Vouching({ token }: { token: string }) {
  const { t } = useTranslation();
  const [query, retry] = useRemoteQuery(toVouchingApiPath(token), true, parseOpened);
  if (query.state === "found")
    return "own" in query.body ? <OwnCode opened={query.body} /> : <Question token={token} request={query.body} />;
  const refusal = query.state === "missing" ? "vouching_not_found" : query.state === "failed" && query.code;
  if (!refusal || !(query.state === "missing" || finalRefusals.has(refusal)))
    return <PendingContent query={query} retry={retry} />;
  return (
    <div role="status">
      <EmptyState
        icon="i-ph-seal-warning"
        title={t("number.vouching.impossible")}
        body={t(`errors.${refusal}`)}
        action={
          <Link to="/app" className={quietLink}>
            {t("common.close")}
          </Link>
        }
      />
    </div>
  );
}

/** Route /app/v/:token, to which the QR code of a contact leads: confirms that the contact has their number. */
export default function VouchScreen() {
  const { t } = useTranslation();
  const { token = "" } = useParams();
  useEffect(deleteKeptLink, []);
  return (
    <Screen
      title={t("number.vouching.title")}
      description={t("number.vouching.description")}
      backPath="/app/senga"
      hasProfileButton={false}
    >
      <div className="mx-auto flex w-full max-w-120 flex-col gap-4 p-4 pb-8">
        <Vouching key={token} token={token} />
      </div>
    </Screen>
  );
}
