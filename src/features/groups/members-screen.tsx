import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useParams } from "react-router";
import * as v from "valibot";
import { Button } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { RedirectWithNotice } from "#components/layout/redirect-with-notice.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { useLastDefined } from "#components/layout/use-last-defined.ts";
import { Uuid } from "#contract/ids.ts";
import { t } from "#i18n/setup.ts";
import { useSession } from "#lib/session/use-session.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { type GroupView, useGroup } from "#sync/hooks/use-group.ts";
import { GroupPage } from "./group-page.tsx";

function GroupPageLoader({ id, me }: { id: Uuid; me: Uuid }) {
  const { t } = useTranslation();
  const [lookup, retry] = useGroup(id);
  const [isLeaving, setLeaving] = useState(false);
  const lastView = useLastDefined(lookup.state === "here" ? lookup.view : undefined);
  const renderPage = (view: GroupView) => <GroupPage view={view} me={me} onLeaving={setLeaving} />;
  if (lookup.state === "here") return renderPage(lookup.view);
  // While the user is leaving, the page stays until the leave action itself navigates away.
  if (isLeaving && lastView) return renderPage(lastView);
  if (lookup.state === "gone" && lookup.name !== undefined) {
    return <RedirectWithNotice message={t("groups.chat.left", { name: isolateBidi(lookup.name) })} isError={false} />;
  }
  if (lookup.state === "gone" || lookup.state === "missing") {
    return <RedirectWithNotice message={t("errors.group_not_found")} isError />;
  }
  return (
    <Screen title={t("groups.page.title")} description={t("groups.page.description")} backPath="/app">
      {lookup.state === "loading" ? (
        <PaneSpinner />
      ) : (
        <div role="status" className="my-auto">
          <EmptyState
            icon="i-ph-cloud-slash"
            title={t("groups.chat.infoFailed")}
            body={t(`errors.${lookup.code}`)}
            action={<Button onClick={retry}>{t("common.retry")}</Button>}
          />
        </div>
      )}
    </Screen>
  );
}

/** Route /app/group/:groupId/members: members and settings of a group. */
export default function MembersScreen() {
  const { groupId } = useParams();
  const me = useSession()?.userId;
  if (me === undefined) return null; // signed out: the route guard is about to redirect
  if (!v.is(Uuid, groupId)) return <RedirectWithNotice message={t("errors.group_not_found")} isError />;
  return <GroupPageLoader key={groupId} id={groupId} me={me} />;
}
