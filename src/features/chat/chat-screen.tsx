import { useEffect } from "react";
import { useNavigate, useParams } from "react-router";
import * as v from "valibot";
import { Uuid } from "../../../contract/ids";
import { showToast } from "../../components/toast";
import { t } from "../../i18n/setup";
import { useSession } from "../../lib/session";
import { Chat } from "./chat";

/** Says so and leads back to the list (SPEC.md §8). */
function NobodyThere() {
  const navigate = useNavigate();
  useEffect(() => {
    showToast({ tone: "danger", title: t("common.error"), message: t("chat.userNotFound") });
    navigate("/app", { replace: true });
  }, [navigate]);
  return null;
}

/** /app/chat/:userId, where the parameter is the other person. */
export default function ChatScreen() {
  const { userId } = useParams();
  const me = useSession()?.userId;
  if (me === undefined) return null; // signed out: the guard is about to lead away
  if (!v.is(Uuid, userId) || userId === me) return <NobodyThere />;
  return <Chat key={`${me}.${userId}`} me={me} userId={userId} whenNobody={<NobodyThere />} />;
}
