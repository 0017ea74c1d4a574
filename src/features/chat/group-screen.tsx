import { useParams } from "react-router";
import * as v from "valibot";
import { Uuid } from "../../../contract/ids";
import { LedAway } from "../../components/led-away";
import { t } from "../../i18n/setup";
import { useSession } from "../../lib/session";
import { GroupChat } from "./group-chat";

/** /app/group/:groupId. */
export default function GroupScreen() {
  const { groupId } = useParams();
  const me = useSession()?.userId;
  if (me === undefined) return null; // signed out: the guard is about to lead away
  if (!v.is(Uuid, groupId)) return <LedAway message={t("errors.group_not_found")} isError />;
  return <GroupChat key={`${me}.${groupId}`} id={groupId} />;
}
