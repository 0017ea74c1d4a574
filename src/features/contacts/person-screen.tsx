import { useTranslation } from "react-i18next";
import { Navigate, useParams } from "react-router";
import * as v from "valibot";
import { Button } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { toDisplayName } from "#components/people/person-name.ts";
import { Uuid } from "#contract/ids.ts";
import { useSession } from "#lib/session/session.ts";
import { type ProfileLookup, useProfile } from "#sync/hooks/use-profile.ts";
import { PersonView } from "./person-view.tsx";

function PersonScreenContent({ look, again }: { look: ProfileLookup; again: () => void }) {
  const { t } = useTranslation();
  if (look.state === "found") return <PersonView key={look.person.id} person={look.person} />;
  if (look.state === "loading") {
    return <PaneSpinner />;
  }
  return (
    <div role="status" className="my-auto">
      {look.state === "missing" ? (
        <EmptyState
          icon="i-ph-user-circle-dashed"
          title={t("contacts.person.none")}
          body={t("contacts.person.noneBody")}
        />
      ) : (
        <EmptyState
          icon="i-ph-cloud-slash"
          title={t("contacts.person.loadFailed")}
          body={t(`errors.${look.code}`)}
          action={<Button onClick={again}>{t("common.retry")}</Button>}
        />
      )}
    </div>
  );
}

function OtherPersonScreen({ userId }: { userId: Uuid }) {
  const { t } = useTranslation();
  const [look, again] = useProfile(userId);
  return (
    <Screen
      title={look.state === "found" ? toDisplayName(look.person, t) : t("contacts.person.title")}
      heading={t("contacts.person.title")}
      description={t("contacts.person.description")}
      backPath="/app/contacts"
      backMode="previous"
    >
      <PersonScreenContent look={look} again={again} />
    </Screen>
  );
}

/** /app/user/:userId: somebody else; one's own id leads to one's own profile. */
export default function PersonScreen() {
  const { t } = useTranslation();
  const { userId } = useParams();
  const me = useSession()?.userId;
  if (me === undefined) return null; // signed out: the guard is about to lead away
  if (userId === me) return <Navigate to="/app/profile" replace />;
  if (v.is(Uuid, userId)) return <OtherPersonScreen userId={userId} />;
  return (
    <Screen title={t("contacts.person.title")} description={t("contacts.person.description")} backPath="/app/contacts">
      <PersonScreenContent look={{ state: "missing" }} again={() => undefined} />
    </Screen>
  );
}
