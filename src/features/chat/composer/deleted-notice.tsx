import { useTranslation } from "react-i18next";
import { late } from "#components/layout/lazy-component.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { useDraft, useLeftOver } from "#sync/hooks/use-live-query.ts";

const LeftNote = late(() => import("#features/chat/unsent/unsent-content.tsx"));

/** In the composer's place where the other's account is gone. */
export function DeletedNote({ conversation }: { conversation: ConversationId }) {
  const { t } = useTranslation();
  const draft = useDraft(conversation);
  const leftOver = useLeftOver(conversation);
  return (
    <LeftNote conversation={conversation} draft={draft ?? ""} leftOver={leftOver} text={t("chat.accountDeleted")} />
  );
}
