import { useEffect, useState } from "react";
import { useNavigate, useParams } from "react-router";
import * as v from "valibot";
import { Uuid } from "../../../contract/ids";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty-state";
import { Screen } from "../../components/screen";
import { Spinner } from "../../components/spinner";
import { showToast } from "../../components/toast";
import { t as currentText, useT } from "../../i18n/setup";
import { isolate } from "../../lib/isolate";
import { useSession } from "../../lib/session";
import { useGroup } from "../../sync/use-group";
import { GroupPage } from "./group-page";

/** Leads back to the list and says why: a group that is not there (SPEC.md §8), or is no longer one's own. */
function Away({ gone }: { gone?: string }) {
  const navigate = useNavigate();
  useEffect(() => {
    if (gone) showToast({ message: currentText("groups.chat.left", { name: isolate(gone) }) });
    else
      showToast({ tone: "danger", title: currentText("common.error"), message: currentText("errors.group_not_found") });
    navigate("/app", { replace: true });
  }, [navigate, gone]);
  return null;
}

function GroupPlace({ id, me }: { id: Uuid; me: Uuid }) {
  const t = useT();
  const [look, again] = useGroup(id);
  // Who is about to leave is told by what they do, and led away by it.
  const [isLeaving, setLeaving] = useState(false);
  if (look.state === "here") return <GroupPage view={look.view} me={me} onLeaving={setLeaving} />;
  if (look.state === "gone") return isLeaving ? null : <Away gone={look.name} />;
  if (look.state === "missing") return <Away />;
  return (
    <Screen title={t("groups.page.title")} description={t("groups.page.description")} back="/app">
      {look.state === "loading" ? (
        <div className="grid flex-1 place-items-center text-accent">
          <span className="late">
            <Spinner label={t("common.loading")} className="text-4xl" />
          </span>
        </div>
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
  if (!v.is(Uuid, groupId)) return <Away />;
  return <GroupPlace key={groupId} id={groupId} me={me} />;
}
