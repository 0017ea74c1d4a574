import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { useParams } from "react-router";
import * as v from "valibot";
import { Button } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { RedirectWithNotice } from "#components/layout/redirect-with-notice.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { Uuid } from "#contract/ids.ts";
import { t } from "#i18n/setup.ts";
import { useSession } from "#lib/session/session.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { type GroupView, useGroup } from "#sync/hooks/use-group.ts";
import { GroupPage } from "./group-page.tsx";

function GroupPageLoader({ id, me }: { id: Uuid; me: Uuid }) {
  const { t } = useTranslation();
  const [look, again] = useGroup(id);
  const [isLeaving, setLeaving] = useState(false);
  const last = useRef<GroupView>(undefined);
  if (look.state === "here") last.current = look.view;
  const page = (view: GroupView) => <GroupPage view={view} me={me} onLeaving={setLeaving} />;
  if (look.state === "here") return page(look.view);
  // Who is leaving is led away by what they do: until it is done the page stays.
  if (isLeaving && last.current) return page(last.current);
  if (look.state === "gone" && look.name !== undefined) {
    return <RedirectWithNotice message={t("groups.chat.left", { name: isolateBidi(look.name) })} isError={false} />;
  }
  if (look.state === "gone" || look.state === "missing") {
    return <RedirectWithNotice message={t("errors.group_not_found")} isError />;
  }
  return (
    <Screen title={t("groups.page.title")} description={t("groups.page.description")} backPath="/app">
      {look.state === "loading" ? (
        <PaneSpinner />
      ) : (
        <div role="status" className="my-auto">
          <EmptyState
            icon="i-ph-cloud-slash"
            title={t("groups.chat.infoFailed")}
            body={t(`errors.${look.code}`)}
            action={<Button onClick={again}>{t("common.retry")}</Button>}
          />
        </div>
      )}
    </Screen>
  );
}

/** /app/group/:groupId/members: who is in a group, and what can be done with it. */
export default function MembersScreen() {
  const { groupId } = useParams();
  const me = useSession()?.userId;
  if (me === undefined) return null; // signed out: the guard is about to lead away
  if (!v.is(Uuid, groupId)) return <RedirectWithNotice message={t("errors.group_not_found")} isError />;
  return <GroupPageLoader key={groupId} id={groupId} me={me} />;
}
