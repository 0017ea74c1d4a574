import { useTranslation } from "react-i18next";
import type { ConversationId } from "../../../contract/ids";
import { late } from "../../components/late";
import { useDraft, useLeftOver } from "../../sync/hooks";

const LeftNote = late(() => import("./left-note"));

/** In the composer's place where the other's account is gone. */
export function DeletedNote({ conversation }: { conversation: ConversationId }) {
  const { t } = useTranslation();
  const draft = useDraft(conversation);
  const leftOver = useLeftOver(conversation);
  return (
    <LeftNote conversation={conversation} draft={draft ?? ""} leftOver={leftOver} text={t("chat.accountDeleted")} />
  );
}
