import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { useParams } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { RedirectWithNotice } from "#components/layout/redirect-with-notice.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { useLoaded } from "#components/layout/use-loaded.ts";
import { FoundPerson } from "#contract/people.ts";
import { requestApi } from "#lib/http/api.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { deleteKeptLink } from "#lib/session/kept-link.ts";
import { useSession } from "#lib/session/use-session.ts";
import { useRetry } from "#sync/hooks/use-retry.ts";
import { PeopleSearchResults } from "./people-search-results.tsx";
import { useContactRequestActions } from "./use-contact-request-actions.ts";

type LinkLookup =
  | { state: "loading" }
  | { state: "found"; person: FoundPerson }
  | { state: "failed"; code: ReturnType<typeof toErrorCode> };

/** Person to whom a personal link leads. */
const useLinkOwner = (token: string): [lookup: LinkLookup, retry: () => void] => {
  const { value, failure, repeat, retry } = useLoaded(token, async (signal) =>
    parseResponse(FoundPerson, await requestApi("POST", "/api/links/search", { token }, { signal })),
  );
  const code = failure === undefined ? undefined : toErrorCode(failure);
  useRetry(code === "offline" ? failure : undefined, repeat);
  if (value) return [{ state: "found", person: value }, retry];
  return [code === undefined ? { state: "loading" } : { state: "failed", code }, retry];
};

function LinkOwner({ token }: { token: string }) {
  const { t } = useTranslation();
  const me = useSession()?.userId;
  const [lookup, retry] = useLinkOwner(token);
  const actions = useContactRequestActions();
  if (lookup.state === "loading") return <PaneSpinner />;
  if (lookup.state === "failed") {
    const isGone = lookup.code === "link_not_found";
    return (
      <div role="status" className="my-auto">
        <EmptyState
          icon={isGone ? "i-ph-user-circle-dashed" : "i-ph-cloud-slash"}
          title={t(isGone ? "senga.link.gone" : "contacts.person.loadFailed")}
          body={t(`errors.${lookup.code}`)}
          action={isGone ? undefined : <Button onClick={retry}>{t("common.retry")}</Button>}
        />
      </div>
    );
  }
  if (lookup.person.id === me)
    return <RedirectWithNotice message={t("senga.link.own")} isError={false} path="/app/handle" />;
  return (
    <section aria-label={t("senga.results")} className="m-4 overflow-hidden rounded-card border border-line bg-surface">
      <PeopleSearchResults people={[lookup.person]} actions={actions} />
    </section>
  );
}

/** Route /app/u/:token: the person to whom a personal link leads, with the button for a contact request. */
export default function LinkScreen() {
  const { t } = useTranslation();
  const { token = "" } = useParams();
  useEffect(deleteKeptLink, []);
  return (
    <Screen title={t("senga.link.title")} description={t("senga.link.description")} backPath="/app/senga">
      <LinkOwner key={token} token={token} />
    </Screen>
  );
}
