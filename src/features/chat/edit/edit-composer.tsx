import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import { isEditableBody } from "#contract/messages/body.ts";
import { cleanText, isBlank } from "#contract/text.ts";
import { composerClasses } from "#features/chat/field/composer-classes.ts";
import { formatShortcuts, handleFormatKey } from "#features/chat/field/format-keys.ts";
import { LazyFieldTools } from "#features/chat/field/lazy-field-tools.ts";
import { useFieldHeight } from "#features/chat/field/use-field-height.ts";
import { isComposingKey } from "#lib/browser/composing-key.ts";
import { getDraftScope } from "#sync/actions/drafts.ts";
import { saveEdit } from "#sync/actions/message-actions.ts";
import { EditKeeper } from "#sync/drafts/edit-keeper.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { asSyncError, type FailureCode } from "#sync/platform/sync-error.ts";

type EditComposerProps = {
  conversation: ConversationId;
  item: ChatItem;
  onClose: () => void;
  /** Edits the message again, with the words that are kept. */
  onReopen: () => void;
};

/** Form that replaces the message field while an own message is edited. The draft stays in the field below it. */
export default function EditComposer({ conversation, item, onClose, onReopen }: EditComposerProps) {
  const { t } = useTranslation();
  const { body } = item;
  const textBefore = "text" in body ? (body.text ?? "") : "";
  const [keeper] = useState(() => new EditKeeper(getDraftScope(), conversation, item));
  const [text, setText] = useState(keeper.text ?? textBefore);
  const [isTyped, setIsTyped] = useState(keeper.text !== undefined);
  const [error, setError] = useState<FailureCode>();
  const field = useRef<HTMLTextAreaElement>(null);
  useFieldHeight(field, text);

  useEffect(() => {
    const { length } = field.current?.value ?? "";
    field.current?.focus({ preventScroll: true });
    field.current?.setSelectionRange(length, length);
  }, []);
  const isGone = !isEditableBody(body); // deleted meanwhile
  useEffect(() => {
    if (isGone) onClose();
  }, [isGone, onClose]);
  useEffect(() => keeper.watch(), [keeper]);
  // Another tab or device may save the same words, and its edit may be refused.
  useEffect(() => {
    const words = text === textBefore ? undefined : text;
    if (isTyped && !isGone && keeper.text !== words) keeper.keep(words);
  }, [isTyped, isGone, keeper, text, textBefore]);

  const clean = cleanText(text);
  const excessChars = clean.length - messageTextMaxLength;
  const canSave = excessChars <= 0 && (clean === "" ? body.type !== "text" : !isBlank(clean));
  const problem = excessChars > 0 ? t("chat.tooLong", { over: excessChars }) : error && t(`errors.${error}`);

  const close = () => {
    keeper.keep(undefined);
    onClose();
  };
  /** Ends the edit without saving, and offers to take that back if words were typed. */
  const cancel = () => {
    const words = isTyped ? keeper.text : undefined;
    close();
    if (words === undefined) return;
    const undo = () => {
      keeper.keep(words);
      onReopen();
    };
    showToast({ message: t("chat.editCancelled"), action: { label: t("masolo.undo"), onSelect: undo } });
  };
  const save = async () => {
    if (!canSave) return;
    if (clean === textBefore && !item.edit) return close();
    try {
      await saveEdit(conversation, item, clean);
      close();
    } catch (failure) {
      setError(asSyncError(failure).code);
    }
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    void handleFormatKey(event);
    if (isComposingKey(event.nativeEvent) || (event.key !== "Escape" && (event.key !== "Enter" || event.shiftKey)))
      return;
    event.preventDefault();
    if (event.key === "Escape") cancel();
    else void save();
  };

  return (
    <form
      data-page-end
      className={composerClasses.form}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <div className="flex items-center gap-2 pb-2 pl-2">
        <span className="i-ph-pencil-simple shrink-0 text-xl text-accent" aria-hidden="true" />
        <p
          id="edited-message"
          className="flex min-w-0 flex-1 flex-col border-l-4 border-accent px-2.5 text-sm leading-5"
        >
          <span className="font-semibold text-accent">{t("chat.editTitle")}</span>
          <bdi className="truncate text-muted">{textBefore}</bdi>
        </p>
        <IconButton icon="i-ph-x-bold" label={t("chat.cancelEdit")} className="text-muted" onClick={cancel} />
      </div>
      {problem && (
        <p id="edit-problem" role="alert" className="px-3 pb-2 text-sm text-danger">
          {problem}
        </p>
      )}
      <div className="flex items-end gap-x-1 sm:gap-x-2">
        <div className="relative flex min-w-0 flex-1">
          <textarea
            ref={field}
            rows={1}
            dir="auto"
            enterKeyHint="done"
            autoComplete="off"
            aria-label={t("chat.editTitle")}
            aria-keyshortcuts={formatShortcuts}
            aria-invalid={problem !== undefined}
            aria-describedby={problem ? "edit-problem" : "edited-message"}
            value={text}
            className={`${composerClasses.field} pr-12!`}
            onChange={(event) => {
              const { value } = event.target;
              setText(value);
              setIsTyped(true);
              keeper.keep(value === textBefore ? undefined : value);
              setError(undefined);
            }}
            onKeyDown={onKeyDown}
          />
          <LazyFieldTools field={field} />
        </div>
        <button
          type="submit"
          aria-label={t("chat.saveEdit")}
          disabled={!canSave}
          className="grid size-12 shrink-0 place-items-center rounded-full bg-accent text-[22px] text-on-accent disabled:opacity-40"
        >
          <span className="i-ph-check-bold" aria-hidden="true" />
        </button>
      </div>
    </form>
  );
}
