import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { ContactPicker } from "#components/people/contact-picker.tsx";
import type { Uuid } from "#contract/ids.ts";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import { cleanText, isBlank } from "#contract/text.ts";
import { type OpenedShare, saveSharedText, sendShare } from "#lib/browser/share/stored-share.ts";
import { loadMulticast } from "#sync/actions/load-code.ts";
import { broadcastFiles, broadcastText } from "#sync/actions/message-actions.ts";
import { useRecipients } from "#sync/hooks/use-recipients.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { SharedFileList } from "./shared-file-list.tsx";
import { useSharedFiles } from "./use-shared-files.ts";

const saveDelayMs = 300;

/** Text of a share as the person changes it, stored so that it survives a reload, and whether it was sent before. */
const useSharedText = (share: OpenedShare) => {
  const [{ text, isTextSent }, set] = useState({ text: share.text, isTextSent: share.isTextSent });
  useEffect(() => {
    if (text === share.text) return undefined;
    const save = () => void saveSharedText({ id: share.id, isTextSent }, text).catch(() => undefined);
    const timer = setTimeout(save, saveDelayMs);
    return () => clearTimeout(timer);
  }, [share, text, isTextSent]);
  return {
    text,
    isTextSent,
    setText: (changed: string) => set({ text: changed, isTextSent }),
    clearSentText: () => set({ text: "", isTextSent: true }),
  };
};

type ShareFormProps = {
  share: OpenedShare;
  me: Uuid;
  /** Another tab has sent the share, or its text, since it was opened here. */
  onSentElsewhere: () => void;
};

/**
 * Form that sends shared content to contacts and groups: the text as a message of its own, then the files. It works
 * without a network.
 */
export function ShareForm({ share, me, onSentElsewhere }: ShareFormProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { picker, selected, targets } = useRecipients(me);
  const { text, isTextSent, setText, clearSentText } = useSharedText(share);
  const [isBusy, setBusy] = useState(false);
  const { files, isPreparing, remove } = useSharedFiles(share.files);
  // The network may be gone once recipients are chosen. If the code cannot be fetched now, sending tries again.
  useEffect(() => void loadMulticast().catch(() => undefined), []);
  const clean = cleanText(text);
  const hasText = !isBlank(clean);
  const excessChars = clean.length - messageTextMaxLength;
  const outgoing = files.flatMap((shared) => shared.outgoing ?? []);
  const count = targets.length;
  const canSend = count > 0 && !isPreparing && excessChars <= 0 && (hasText || outgoing.length > 0);

  const openSent = () => {
    const [recipient] = selected;
    const isGroup = recipient?.members !== undefined;
    const path = recipient && count === 1 ? `/app/${isGroup ? "group" : "chat"}/${recipient.id}` : "/app";
    void navigate(path, { replace: true });
  };
  const send = async () => {
    setBusy(true);
    let isSent: boolean;
    try {
      isSent = await sendShare({ id: share.id, isTextSent }, async (markTextSent) => {
        if (hasText) {
          await broadcastText(targets, clean);
          clearSentText();
          await markTextSent();
        }
        if (outgoing.length > 0) await broadcastFiles(targets, outgoing);
      });
    } catch (error) {
      const isFull = error instanceof SyncError && error.code === "no_room";
      showToast({
        tone: "danger",
        title: t(isFull ? "chat.attach.noRoomTitle" : "common.error"),
        message: t(isFull ? "chat.attach.noRoom" : "chat.sendFailed"),
      });
      setBusy(false);
      return;
    }
    if (!isSent) return onSentElsewhere();
    showToast({ message: t("masolo.broadcastSent", { count }) });
    openSent();
  };
  return (
    <form
      className="mx-auto flex min-h-0 w-full max-w-120 flex-1 flex-col"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSend && !isBusy) void send();
      }}
    >
      <div className="flex shrink-0 flex-col gap-2 px-4 py-3">
        {(share.text !== "" || share.files.length === 0) && (
          <textarea
            rows={2}
            dir="auto"
            aria-label={t("share.text")}
            aria-invalid={excessChars > 0}
            aria-describedby={excessChars > 0 ? "shared-text-too-long" : undefined}
            value={text}
            className="block max-h-32 min-h-12 w-full rounded-card border border-field bg-surface px-4 py-[11px] leading-6 focus-visible:border-accent focus-visible:outline-1 focus-visible:outline-offset-0"
            onChange={(event) => setText(event.target.value)}
          />
        )}
        {excessChars > 0 && (
          <p id="shared-text-too-long" role="alert" className="text-sm text-danger">
            {t("chat.tooLong", { over: excessChars })}
          </p>
        )}
        <SharedFileList files={files} refusedCount={share.refusedCount} onRemove={remove} />
      </div>
      <ContactPicker label={t("masolo.recipients")} {...picker} />
      <div className="shrink-0 border-t border-line p-3 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
        <Button type="submit" className="w-full" busy={isBusy} disabled={!canSend}>
          {count === 0 ? t("chat.send") : t("masolo.broadcastSend", { count })}
        </Button>
      </div>
    </form>
  );
}
