import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { IconButton } from "#components/controls/icon-button.tsx";
import { copyText } from "#components/overlays/copy-text.ts";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { t } from "#i18n/setup.ts";
import { balanceBidi } from "#lib/text/bidi.ts";
import { discardParkedText, parkTextAgain, restoreParkedText } from "#sync/actions/unsent-content.ts";
import type { ParkedText } from "#sync/unsent/draft-row.ts";

type ParkedTextListProps = {
  conversation: ConversationId;
  texts: readonly ParkedText[];
  canWrite: boolean;
  /** A text was moved into the message field. */
  onRestored: () => void;
};

/** Deletes a parked text, and offers to take that back. */
const discardWithToast = (conversation: ConversationId, parked: ParkedText): void => {
  discardParkedText(conversation, parked);
  const undo = () => parkTextAgain(conversation, parked);
  showToast({ message: t("chat.keptTextDeleted"), action: { label: t("masolo.undo"), onSelect: undo } });
};

/** Texts above the message field that were written and are neither sent nor in the field, newest first. */
export default function ParkedTextList({ conversation, texts, canWrite, onRestored }: ParkedTextListProps) {
  const { t } = useTranslation();
  return (
    <section aria-label={t("chat.keptText")} className="max-h-[40dvh] shrink-0 overflow-y-auto bg-surface">
      {texts.length > 1 && (
        <h2 className="sticky top-0 border-t border-line bg-surface px-4 py-1 text-sm font-semibold text-muted">
          {t("chat.keptTexts", { count: texts.length })}
        </h2>
      )}
      {[...texts].reverse().map((parked) => (
        <div key={parked.id} className="flex items-center gap-1 border-t border-line py-1 pr-1 pl-4">
          <p className="min-w-0 flex-1 text-sm leading-5">
            {texts.length === 1 && <span className="block font-semibold text-muted">{t("chat.keptText")}</span>}
            <bdi className="line-clamp-3 whitespace-pre-wrap [unicode-bidi:plaintext] select-text [overflow-wrap:anywhere]">
              {balanceBidi(parked.text)}
            </bdi>
          </p>
          {canWrite ? (
            <Button
              variant="quiet"
              className="!px-3"
              onClick={() => {
                restoreParkedText(conversation, parked);
                onRestored();
              }}
            >
              {t("chat.restoreKeptText")}
            </Button>
          ) : (
            <Button variant="quiet" className="!px-3" onClick={() => void copyText(parked.text)}>
              {t("messages.copy")}
            </Button>
          )}
          <IconButton
            icon="i-ph-trash"
            label={t("chat.discardKeptText")}
            className="text-muted"
            onClick={() => discardWithToast(conversation, parked)}
          />
        </div>
      ))}
    </section>
  );
}
