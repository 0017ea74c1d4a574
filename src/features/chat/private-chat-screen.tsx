import { useParams } from "react-router";
import * as v from "valibot";
import { RedirectWithNotice } from "#components/layout/redirect-with-notice.tsx";
import { Uuid } from "#contract/ids.ts";
import { t } from "#i18n/setup.ts";
import { useSession } from "#lib/session/use-session.ts";
import { PrivateChat } from "./private-chat.tsx";

/** Route `/app/chat/:userId`, with the id of the peer. */
export default function PrivateChatScreen() {
  const { userId } = useParams();
  const me = useSession()?.userId;
  if (me === undefined) return null; // signed out: the route guard is about to redirect
  const notFound = <RedirectWithNotice message={t("chat.userNotFound")} isError />;
  if (!v.is(Uuid, userId) || userId === me) return notFound;
  return <PrivateChat key={`${me}.${userId}`} me={me} userId={userId} notFound={notFound} />;
}
