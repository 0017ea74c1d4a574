import { useTranslation } from "react-i18next";
import { Navigate, useParams } from "react-router";
import * as v from "valibot";
import { Button } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { toDisplayName } from "#components/people/person-name.ts";
import { Uuid } from "#contract/ids.ts";
import { useSession } from "#lib/session/use-session.ts";
import { type ProfileLookup, useProfile } from "#sync/hooks/use-people.ts";
import { PersonView } from "./person-view.tsx";

function PersonScreenContent({ lookup, retry }: { lookup: ProfileLookup; retry: () => void }) {
  const { t } = useTranslation();
  if (lookup.state === "found") return <PersonView key={lookup.person.id} person={lookup.person} />;
  if (lookup.state === "loading") {
    return <PaneSpinner />;
  }
  return (
    <div role="status" className="my-auto">
      {lookup.state === "missing" ? (
        <EmptyState
          icon="i-ph-user-circle-dashed"
          title={t("contacts.person.none")}
          body={t("contacts.person.noneBody")}
        />
      ) : (
        <EmptyState
          icon="i-ph-cloud-slash"
          title={t("contacts.person.loadFailed")}
          body={t(`errors.${lookup.code}`)}
          action={<Button onClick={retry}>{t("common.retry")}</Button>}
        />
      )}
    </div>
  );
}

function OtherPersonScreen({ userId }: { userId: Uuid }) {
  const { t } = useTranslation();
  const [lookup, retry] = useProfile(userId);
  return (
    <Screen
      title={lookup.state === "found" ? toDisplayName(lookup.person, t) : t("contacts.person.title")}
      heading={t("contacts.person.title")}
      description={t("contacts.person.description")}
      backPath="/app/contacts"
      backMode="previous"
    >
      <PersonScreenContent lookup={lookup} retry={retry} />
    </Screen>
  );
}

/** Route /app/user/:userId: another user's profile; the own id redirects to the own profile. */
export default function PersonScreen() {
  const { t } = useTranslation();
  const { userId } = useParams();
  const me = useSession()?.userId;
  if (me === undefined) return null; // signed out: the route guard is about to redirect
  if (userId === me) return <Navigate to="/app/profile" replace />;
  if (v.is(Uuid, userId)) return <OtherPersonScreen userId={userId} />;
  return (
    <Screen title={t("contacts.person.title")} description={t("contacts.person.description")} backPath="/app/contacts">
      <PersonScreenContent lookup={{ state: "missing" }} retry={() => undefined} />
    </Screen>
  );
}
