import { type KeyboardEvent, type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { messageTextMaxLength } from "#contract/limits.ts";
import { cleanText, isBlank } from "#contract/text.ts";
import { RecordButton } from "#features/chat/voice/record-button.tsx";
import { useVoiceRecorder } from "#features/chat/voice/use-voice-recorder.ts";
import { readLatestDraft, reportTyping, saveDraft, sendText } from "#sync/actions.ts";
import { useTextDraft } from "#sync/hooks/use-live-query.ts";
import { AttachButtons } from "./attach-buttons.tsx";
import { useComposerOverlay } from "./composer-overlay.ts";
import { FileDropZone } from "./file-drop.tsx";
import { hasKeyboard } from "./has-keyboard.ts";
import { listPastedFiles } from "./pasted-files.ts";
import { useAttachmentDraft } from "./use-attachment-draft.ts";

const composerLinesMax = 5;

/** What is begun here from elsewhere. */
export type ComposerHandle = { /** A voice message, recorded until it is sent. */ startRecording(): void };

type MessageComposerProps = { ref?: Ref<ComposerHandle>; conversation: ConversationId; onSend: () => void };

/**
 * Where a message is written. The text leaves the field at once and comes back if this phone could not even
 * store it; until it is stored it stays in the draft. The network plays no part here.
 */
export function MessageComposer({ ref, conversation, onSend }: MessageComposerProps) {
  const { t } = useTranslation();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState("");
  const latest = useRef("");
  const draft = useTextDraft(conversation);
  const isTouched = useRef(false);
  const attaching = useAttachmentDraft(conversation);
  const voice = useVoiceRecorder(conversation, onSend);
  const isRecording = voice.session !== undefined;
  useComposerOverlay(attaching.Sheet !== undefined || attaching.Camera !== undefined);

  const roundButton = useRef<HTMLButtonElement>(null);
  useImperativeHandle(ref, () => ({
    startRecording() {
      if (voice.startLocked()) roundButton.current?.focus({ preventScroll: true });
    },
  }));

  const put = (next: string) => {
    latest.current = next;
    setText(next);
  };
  const change = (next: string) => {
    isTouched.current = true;
    put(next);
    saveDraft(conversation, next);
    if (next !== "") reportTyping(conversation);
  };

  // What another tab of the same person wrote or sent shows here too, unless somebody is writing here now.
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again when the draft that is kept has changed
  useEffect(() => {
    let isCurrent = true;
    void readLatestDraft(conversation).then((draft) => {
      if (!isCurrent || isTouched.current) return;
      latest.current = draft;
      setText(draft);
    });
    return () => {
      isCurrent = false;
    };
  }, [conversation, draft]);

  const focusField = () => {
    if (hasKeyboard()) field.current?.focus({ preventScroll: true });
  };
  useEffect(focusField, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    const style = getComputedStyle(element);
    const padding = Number.parseFloat(style.paddingTop) + Number.parseFloat(style.paddingBottom);
    const max = Number.parseFloat(style.lineHeight) * composerLinesMax + padding;
    // Around it nothing moves while it is measured: the messages above would be left short of their end.
    const around = element.form;
    if (around) around.style.minHeight = `${around.offsetHeight}px`;
    element.style.height = "0";
    const wanted = element.scrollHeight;
    element.style.height = `${Math.min(wanted, max)}px`;
    if (around) around.style.minHeight = "";
    element.style.overflowY = wanted > max ? "auto" : "hidden";
  }, [text]);

  const clean = cleanText(text);
  const over = clean.length - messageTextMaxLength;
  const canSend = !isBlank(clean) && over <= 0;

  const send = async () => {
    if (!canSend) return;
    isTouched.current = true;
    const sending = sendText(conversation, clean); // noted before the field is empty
    put("");
    onSend();
    field.current?.focus({ preventScroll: true });
    try {
      await sending;
    } catch {
      put(latest.current === "" ? text : `${text}\n${latest.current}`);
      showToast({ tone: "danger", title: t("common.error"), message: t("chat.sendFailed") });
    }
    saveDraft(conversation, latest.current);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that ends a composition (accents, other scripts) belongs to the input method.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };

  return (
    <>
      <form
        data-page-end
        className="relative shrink-0 border-t border-line bg-surface px-2 py-2 pb-[max(0.5rem,env(safe-area-inset-bottom))]"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {over > 0 && (
          <p id="message-too-long" role="alert" className="px-3 pb-2 text-sm text-danger">
            {t("chat.tooLong", { over })}
          </p>
        )}
        <div className="flex items-end gap-x-1 sm:gap-x-2">
          {voice.Panel && voice.session ? (
            <voice.Panel recording={voice.session} isLocked={voice.isLocked} isCancelling={voice.isCancelling} />
          ) : (
            <AttachButtons onFiles={attaching.add} onCamera={attaching.openCamera} />
          )}
          <textarea
            ref={field}
            rows={1}
            dir="auto"
            hidden={isRecording}
            enterKeyHint="send"
            autoComplete="off"
            aria-label={t("chat.composer")}
            aria-invalid={over > 0}
            aria-describedby={over > 0 ? "message-too-long" : undefined}
            placeholder={t("chat.placeholder")}
            value={text}
            className="block min-h-12 min-w-0 flex-1 rounded-[24px] border border-field bg-bg px-4 py-[11px] leading-6 placeholder:overflow-hidden placeholder:text-ellipsis placeholder:whitespace-nowrap focus-visible:border-accent focus-visible:outline-1 focus-visible:outline-offset-0"
            onChange={(event) => change(event.target.value)}
            onBlur={() => {
              isTouched.current = false;
            }}
            onKeyDown={onKeyDown}
            onPaste={(event) => {
              const files = listPastedFiles(event.clipboardData);
              if (files.length === 0) return;
              event.preventDefault();
              void attaching.add(files);
            }}
          />
          <RecordButton ref={roundButton} recorder={voice} hasText={clean !== "" && !isRecording} canSend={canSend} />
        </div>
      </form>
      <FileDropZone onFiles={attaching.add} />
      {attaching.Camera && (
        <attaching.Camera onPhoto={(picture) => attaching.add([picture])} onClose={attaching.closeCamera} />
      )}
      {attaching.Sheet && (
        <attaching.Sheet
          conversation={conversation}
          files={attaching.files}
          captions={attaching.captions}
          isOriginal={attaching.isOriginal}
          isOverLimit={attaching.isOverLimit}
          onAdd={attaching.add}
          onCaptionChange={attaching.caption}
          onOriginalChange={attaching.setOriginal}
          onRemove={attaching.remove}
          getSavedDraft={attaching.kept}
          onClose={attaching.close}
          onSent={() => {
            attaching.close();
            onSend();
            focusField();
          }}
        />
      )}
    </>
  );
}
