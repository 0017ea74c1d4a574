import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { type ConversationId, privateMembers } from "#contract/ids.ts";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import { formatShortcuts, handleFormatKey } from "#features/chat/field/format-keys.ts";
import { hasKeyboard } from "#features/chat/field/has-keyboard.ts";
import { LazyFieldTools } from "#features/chat/field/lazy-field-tools.ts";
import { MentionPicker } from "#features/chat/mentions/lazy-mention-picker.ts";
import { isComposingKey } from "#lib/browser/composing-key.ts";
import { listPastedFiles } from "./chosen-files.ts";

const captionLinesMax = 4;

type CaptionFormProps = {
  conversation: ConversationId;
  /** Name of the captioned file. */
  fileName: string;
  caption: string;
  canSend: boolean;
  isSending: boolean;
  onChange: (caption: string) => void;
  onFiles: (files: File[]) => void;
  onSend: () => void;
};

/** Caption field of the selected file, with the button that sends all files. */
export function CaptionForm({ conversation, fileName, caption, canSend, isSending, ...props }: CaptionFormProps) {
  const { onChange, onFiles, onSend } = props;
  const { t } = useTranslation();
  const textarea = useRef<HTMLTextAreaElement>(null);
  return (
    <form
      className="relative flex shrink-0 items-end gap-2 border-t border-line px-2 py-2 pb-[max(0.5rem,env(safe-area-inset-bottom))]"
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      {caption.includes("@") && !privateMembers(conversation) && (
        <MentionPicker conversation={conversation} field={textarea} />
      )}
      <div className="relative flex min-w-0 flex-1">
        <textarea
          ref={textarea}
          rows={Math.min(captionLinesMax, caption.split("\n").length)}
          dir="auto"
          enterKeyHint="send"
          autoComplete="off"
          maxLength={messageTextMaxLength}
          aria-label={t("chat.attach.caption", { name: fileName })}
          placeholder={t("chat.attach.captionHint")}
          value={caption}
          data-autofocus={hasKeyboard() ? "" : undefined}
          className="block min-h-12 min-w-0 flex-1 rounded-[24px] border border-field bg-bg py-[11px] pr-12 pl-4 leading-6 focus-visible:border-accent focus-visible:outline-1 focus-visible:outline-offset-0"
          onPaste={(event) => {
            const files = listPastedFiles(event.clipboardData);
            if (files.length === 0) return;
            event.preventDefault();
            onFiles(files);
          }}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
          aria-keyshortcuts={formatShortcuts}
          onKeyDown={(event) => {
            void handleFormatKey(event);
            if (event.key !== "Enter" || event.shiftKey || isComposingKey(event.nativeEvent)) return;
            event.preventDefault();
            onSend();
          }}
        />
        <LazyFieldTools field={textarea} />
      </div>
      <button
        type="submit"
        data-autofocus=""
        disabled={!canSend}
        aria-busy={isSending}
        aria-label={t("chat.send")}
        title={t("chat.send")}
        className="grid size-12 shrink-0 place-items-center rounded-full bg-accent text-[20px] text-on-accent transition-colors hover:bg-accent-hover disabled:bg-raised disabled:text-muted"
      >
        <span className={isSending ? "spinner" : "i-ph-paper-plane-right-fill"} aria-hidden="true" />
      </button>
    </form>
  );
}
