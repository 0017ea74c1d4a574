import { useTranslation } from "react-i18next";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { useTextDraft, useUnsentContent } from "#sync/hooks/use-live-query.ts";

const UnsentContentPanel = lazyComponent(() => import("#features/chat/unsent/unsent-content.tsx"));

/** Replaces the composer when the peer's account was deleted. */
export function DeletedAccountNotice({ conversation }: { conversation: ConversationId }) {
  const { t } = useTranslation();
  const draft = useTextDraft(conversation);
  const leftOver = useUnsentContent(conversation);
  return (
    <UnsentContentPanel
      conversation={conversation}
      draft={draft ?? ""}
      unsent={leftOver}
      reason={t("chat.accountDeleted")}
    />
  );
}
