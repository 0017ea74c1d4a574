import {
  type ComponentType,
  type KeyboardEvent,
  type Ref,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
} from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { composerCover, useLayer } from "#components/overlays/cover.ts";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import { cleanText, isBlank } from "#contract/text.ts";
import { composerClasses } from "#features/chat/field/composer-classes.ts";
import { formatShortcuts, handleFormatKey } from "#features/chat/field/format-keys.ts";
import { hasKeyboard } from "#features/chat/field/has-keyboard.ts";
import { LazyFieldTools } from "#features/chat/field/lazy-field-tools.ts";
import { useFieldHeight } from "#features/chat/field/use-field-height.ts";
import type { MentionPickerProps } from "#features/chat/mentions/mention-picker.tsx";
import { RecordButton } from "#features/chat/voice/record-button.tsx";
import { useVoiceMessageRequest } from "#features/chat/voice/use-voice-message-request.ts";
import { useVoiceRecorder } from "#features/chat/voice/use-voice-recorder.ts";
import { loadWithIdleTexts } from "#i18n/setup.ts";
import { isComposingKey } from "#lib/browser/composing-key.ts";
import { composerHash } from "#lib/browser/push/composer-hash.ts";
import { reportTyping } from "#sync/actions/conversations.ts";
import { afterTyping, readLatestDraft, saveDraft, setReplyDraft, shareDrafts } from "#sync/actions/drafts.ts";
import { sendText } from "#sync/actions/messages.ts";
import { useReplyDraft, useTextDraft } from "#sync/hooks/use-unsent.ts";
import { AttachButton } from "./attach-button.tsx";
import { listPastedFiles } from "./chosen-files.ts";
import { LazyFileDropZone } from "./lazy-file-drop.ts";
import { useAttachmentDraft } from "./use-attachment-draft.ts";

const ReplyBar = lazyComponent(() => loadWithIdleTexts(() => import("#features/chat/reply/reply-bar.tsx")));

/** Imperative handle for starting a message from elsewhere in the chat. */
export type ComposerHandle = {
  /** Starts a locked voice recording. */
  startRecording(): void;
  /** Focuses the message field, once an open menu has closed. */
  focus(): void;
};

type MessageComposerProps = {
  ref?: Ref<ComposerHandle>;
  conversation: ConversationId;
  /** List of members to mention; only in a group. */
  MentionPicker?: ComponentType<MentionPickerProps> | undefined;
  /** Another form replaces this one, which keeps its draft. */
  isHidden: boolean;
  /** Edits the last own message. */
  onEditLast: () => Promise<void>;
  onSend: () => void;
};

/**
 * Message input. Sending clears the field at once; the text returns if it cannot be written to the local store, and
 * stays in the draft until it is stored. Independent of the network.
 */
export function MessageComposer({ ref, conversation, isHidden, onSend, ...props }: MessageComposerProps) {
  const { MentionPicker, onEditLast } = props;
  const { t } = useTranslation();
  const textarea = useRef<HTMLTextAreaElement>(null);
  const draft = useTextDraft(conversation);
  const [text, setText] = useState(draft ?? "");
  const latest = useRef(text);
  const replyTarget = useReplyDraft(conversation);
  const isTouched = useRef(false);
  /** Last send whose text may not be stored yet. */
  const pendingSend = useRef<Promise<void>>(undefined);
  const attachments = useAttachmentDraft(conversation);
  const recorder = useVoiceRecorder(conversation, onSend);
  const isRecording = recorder.recording !== undefined;
  useLayer(composerCover, attachments.Sheet !== undefined || attachments.Camera !== undefined);

  const recordButton = useRef<HTMLButtonElement>(null);
  const startRecording = () => {
    if (recorder.startLocked()) recordButton.current?.focus({ preventScroll: true });
  };
  useImperativeHandle(ref, () => ({
    startRecording,
    focus() {
      setTimeout(() => textarea.current?.focus({ preventScroll: true }));
    },
  }));
  useVoiceMessageRequest(conversation, startRecording);

  const showText = (next: string) => {
    latest.current = next;
    setText(next);
  };
  const handleChange = (next: string) => {
    isTouched.current = true;
    // `text` stood in the field; a draft that is about to be shown there was not seen.
    saveDraft(conversation, next, text);
    showText(next);
    if (next !== "") reportTyping(conversation);
  };

  useEffect(() => shareDrafts, []);

  // Shows the stored draft, also when another tab or device changes or sends it, unless the user is typing here.
  useEffect(() => {
    let isCurrent = true;
    const show = () => {
      if (draft === undefined || !isCurrent) return;
      // Until a sent text is stored, the stored draft may be that text.
      if (pendingSend.current) return void pendingSend.current.then(() => afterTyping(conversation, show));
      latest.current = readLatestDraft(conversation);
      setText(latest.current);
    };
    const cancel = isTouched.current ? afterTyping(conversation, show) : show();
    return () => {
      isCurrent = false;
      cancel?.();
    };
  }, [conversation, draft]);

  const focusField = () => {
    if (hasKeyboard()) textarea.current?.focus({ preventScroll: true });
  };
  useEffect(() => {
    // A field that starts with a draft has its caret before it. Setting the selection would focus the field in Safari.
    if (textarea.current && latest.current !== "") {
      textarea.current.value = "";
      textarea.current.value = latest.current;
    }
  }, []);
  useEffect(focusField, []);
  const { hash } = useLocation();
  useEffect(() => {
    if (hash === composerHash) textarea.current?.focus();
  }, [hash]);

  useFieldHeight(textarea, text);

  const clean = cleanText(text);
  const excessChars = clean.length - messageTextMaxLength;
  const canSend = !isBlank(clean) && excessChars <= 0;

  const finishSend = async (sending: Promise<void>) => {
    try {
      await sending;
    } catch {
      showText(latest.current === "" ? text : `${text}\n${latest.current}`);
      showToast({ tone: "danger", title: t("common.error"), message: t("chat.sendFailed") });
    }
    saveDraft(conversation, latest.current, text);
  };

  const send = async () => {
    if (!canSend) return;
    isTouched.current = true;
    const finished = finishSend(sendText(conversation, clean)); // journaled before the field is cleared
    pendingSend.current = finished;
    showText("");
    onSend();
    textarea.current?.focus({ preventScroll: true });
    await finished;
    if (pendingSend.current === finished) pendingSend.current = undefined;
  };

  const editLast = async () => {
    await pendingSend.current; // its text may return to the field
    if (latest.current === "") await onEditLast();
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    void handleFormatKey(event);
    if (event.key === "Escape" && replyTarget !== undefined && !isComposingKey(event.nativeEvent)) {
      event.preventDefault();
      setReplyDraft(conversation, undefined);
    }
    if (event.key === "ArrowUp" && text === "") void editLast();
    // Enter that ends an IME composition (accents, other scripts) does not send.
    if (event.key !== "Enter" || event.shiftKey || isComposingKey(event.nativeEvent)) return;
    event.preventDefault();
    void send();
  };

  return (
    <>
      <form
        data-page-end
        hidden={isHidden && !isRecording}
        className={composerClasses.form}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {MentionPicker && text.includes("@") && <MentionPicker conversation={conversation} field={textarea} />}
        {replyTarget !== undefined && (
          <ReplyBar
            id="replied-message"
            conversation={conversation}
            target={replyTarget}
            onCancelled={() => textarea.current?.focus({ preventScroll: true })}
          />
        )}
        {excessChars > 0 && (
          <p id="message-too-long" role="alert" className="px-3 pb-2 text-sm text-danger">
            {t("chat.tooLong", { over: excessChars })}
          </p>
        )}
        <div className="flex items-end gap-x-1 sm:gap-x-2">
          {recorder.Panel && recorder.recording ? (
            <recorder.Panel
              recording={recorder.recording}
              isLocked={recorder.isLocked}
              isCancelling={recorder.isCancelling}
            />
          ) : (
            <AttachButton onFiles={attachments.add} onCamera={attachments.openCamera} />
          )}
          <div hidden={isRecording} className="relative flex min-w-0 flex-1">
            <textarea
              data-kept
              ref={textarea}
              rows={1}
              dir="auto"
              enterKeyHint="send"
              autoComplete="off"
              aria-label={t("chat.composer")}
              aria-keyshortcuts={formatShortcuts}
              aria-invalid={excessChars > 0}
              aria-describedby={
                excessChars > 0 ? "message-too-long" : replyTarget === undefined ? undefined : "replied-message"
              }
              placeholder={t("chat.placeholder")}
              value={text}
              className={`${composerClasses.field} pr-12!`}
              onChange={(event) => handleChange(event.target.value)}
              onBlur={() => {
                isTouched.current = false;
              }}
              onKeyDown={onKeyDown}
              onPaste={(event) => {
                const files = listPastedFiles(event.clipboardData);
                if (files.length === 0) return;
                event.preventDefault();
                void attachments.add(files);
              }}
            />
            {!isHidden && !isRecording && <LazyFieldTools field={textarea} />}
          </div>
          <RecordButton
            ref={recordButton}
            recorder={recorder}
            hasText={clean !== "" && !isRecording}
            canSend={canSend}
          />
        </div>
      </form>
      <LazyFileDropZone onFiles={attachments.add} />
      {attachments.Camera && (
        <attachments.Camera onPhoto={(picture) => attachments.add([picture])} onClose={attachments.closeCamera} />
      )}
      {attachments.Sheet && (
        <attachments.Sheet
          conversation={conversation}
          files={attachments.files}
          captions={attachments.captions}
          isOriginal={attachments.isOriginal}
          isOverLimit={attachments.isOverLimit}
          isNotKept={attachments.isNotKept}
          hasOnlyCopy={attachments.hasOnlyCopy}
          onAdd={attachments.add}
          onCaptionChange={attachments.setCaption}
          onOriginalChange={attachments.setOriginal}
          onRemove={attachments.remove}
          getSavedDraft={attachments.getSavedDraft}
          onClose={attachments.close}
          onSent={() => {
            attachments.close();
            onSend();
            focusField();
          }}
        />
      )}
    </>
  );
}
