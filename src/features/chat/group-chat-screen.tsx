import { useParams } from "react-router";
import * as v from "valibot";
import { RedirectWithNotice } from "#components/layout/redirect-with-notice.tsx";
import { Uuid } from "#contract/ids.ts";
import { t } from "#i18n/setup.ts";
import { useSession } from "#lib/session/use-session.ts";
import { GroupChat } from "./group-chat.tsx";

/** Route `/app/group/:groupId`. */
export default function GroupChatScreen() {
  const { groupId } = useParams();
  const me = useSession()?.userId;
  if (me === undefined) return null; // signed out: the route guard is about to redirect
  if (!v.is(Uuid, groupId)) return <RedirectWithNotice message={t("errors.group_not_found")} isError />;
  return <GroupChat key={`${me}.${groupId}`} id={groupId} />;
}
