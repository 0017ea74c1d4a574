import { useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Modal } from "#components/overlays/modal.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { cleanText, isBlank } from "#contract/text.ts";
import { formatBytes } from "#i18n/format-bytes.ts";
import { type TextKey, useLanguage } from "#i18n/setup.ts";
import { isUndecodedPicture, type PreparedFile } from "#lib/media/outgoing-file.ts";
import { sendFiles } from "#sync/actions/message-actions.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { SavedDraft } from "#sync/unsent/attachment-rows.ts";
import { AttachmentPreview, AttachmentThumbnail } from "./attach-preview.tsx";
import { CaptionForm } from "./caption-form.tsx";
import { attachedFilesMax } from "./chosen-files.ts";
import { DiscardAttachmentsDialog } from "./discard-dialog.tsx";
import { FileDropZone } from "./file-drop.tsx";
import { describeRejectedFiles } from "./rejected-files.ts";
import { type MediaPreparation, useMediaPreparation } from "./use-media-preparation.ts";

const sendErrorTexts = { noRoom: "chat.attach.noRoom", failed: "chat.attach.failed" } as const satisfies Record<
  string,
  TextKey
>;

type AttachSheetProps = {
  conversation: ConversationId;
  files: File[];
  captions: ReadonlyMap<File, string>;
  /** Sends images in their original size. */
  isOriginal: boolean;
  /** More files were chosen than fit into one draft; the rest was dropped. */
  isOverLimit: boolean;
  /** This device has no room to keep the draft. */
  isNotKept: boolean;
  /** A file may exist nowhere else. */
  hasOnlyCopy: boolean;
  /** Saves this draft, which is deleted together with the sending. */
  getSavedDraft: () => Promise<SavedDraft | undefined>;
  onAdd: (files: File[]) => void;
  onRemove: (file: File) => void;
  onCaptionChange: (file: File, caption: string) => void;
  onOriginalChange: (isOriginal: boolean) => void;
  onSent: () => void;
  onClose: () => void;
};

/** Version of the file to send: the original if wanted and possible, else the compressed one. */
const selectOutgoingFile = (preparation: MediaPreparation, wantsOriginal: boolean): PreparedFile | undefined => {
  if (preparation.state !== "ready") return undefined;
  return wantsOriginal ? (preparation.original ?? preparation.compressed) : preparation.compressed;
};

const withCaption = ({ blob, body }: PreparedFile, caption: string | undefined): PreparedFile => {
  const text = cleanText(caption ?? "");
  return isBlank(text) || body.type === "voice" ? { blob, body } : { blob, body: { ...body, text } };
};

/** Whether discarding loses work: several files or a caption. */
const needsDiscardConfirmation = (files: File[], captions: ReadonlyMap<File, string>): boolean =>
  files.length > 1 || files.some((file) => !isBlank(cleanText(captions.get(file) ?? "")));

/** Sheet for reviewing, captioning and removing files before they are sent. */
export default function AttachSheet({ conversation, files, captions, isOriginal, ...props }: AttachSheetProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const preparations = useMediaPreparation(files);
  const [requestedFile, setRequestedFile] = useState<File>();
  const [isSending, setSending] = useState(false);
  const [isConfirmingDiscard, setConfirmingDiscard] = useState(false);
  const [sendError, setSendError] = useState<keyof typeof sendErrorTexts>();
  const selected = requestedFile && files.includes(requestedFile) ? requestedFile : files[0];
  if (!selected) return null;

  const items = files.map((file) => ({ file, item: preparations.get(file) }));
  const hasOnlyPhotos = items.every(({ file, item }) =>
    item.state === "preparing"
      ? file.type.startsWith("image/")
      : item.state === "refused" || item.compressed.body.type === "image",
  );
  const undecodedCount = items.filter(
    ({ file, item }) => item.state === "ready" && isUndecodedPicture(file, item.compressed),
  ).length;
  const notice = sendError
    ? t(sendErrorTexts[sendError])
    : props.isOverLimit
      ? t("chat.attach.tooMany", { max: attachedFilesMax })
      : props.isNotKept
        ? t("chat.notKept")
        : undecodedCount > 0
          ? t("chat.attach.asFile", { count: undecodedCount })
          : undefined;
  const selectedPreparation = preparations.get(selected);
  const outgoing = items.flatMap(({ item }) => selectOutgoingFile(item, isOriginal) ?? []);
  const refusedCount = items.filter(({ item }) => item.state === "refused").length;
  const canSend = refusedCount < items.length;
  const totalBytes = outgoing.reduce((sum, { blob }) => sum + blob.size, 0);
  const compressible = items.flatMap(({ file, item }) =>
    item.state === "ready" && item.compressed.blob !== file
      ? { compressed: item.compressed.blob.size, original: file.size }
      : [],
  );
  const cannotBeOriginal = items.some(({ item }) => item.state === "ready" && !item.original);

  const remove = (file: File) => {
    if (files.length === 1) return props.onClose();
    const next = files[files.indexOf(file) + 1] ?? files.at(-2);
    if (file === selected) setRequestedFile(next);
    props.onRemove(file);
  };

  const close = () => {
    if (isSending) return;
    if (props.hasOnlyCopy || needsDiscardConfirmation(files, captions)) setConfirmingDiscard(true);
    else props.onClose();
  };

  const send = async () => {
    if (!canSend || isSending) return;
    setSending(true);
    setSendError(undefined);
    const all = await preparations.waitForAll();
    // If more files turned out to be rejected, shows the first of them; a second press sends the others.
    const refused = all.findIndex(({ state }) => state === "refused");
    if (all.filter(({ state }) => state === "refused").length > refusedCount) {
      setRequestedFile(files[refused]);
      setSending(false);
      return;
    }
    const filesToSend = files.flatMap((file, index) => {
      const chosen = all[index] && selectOutgoingFile(all[index], isOriginal);
      return chosen ? withCaption(chosen, captions.get(file)) : [];
    });
    try {
      await sendFiles(conversation, filesToSend, await props.getSavedDraft());
    } catch (error) {
      setSendError(error instanceof SyncError && error.code === "no_room" ? "noRoom" : "failed");
      setSending(false);
      return;
    }
    const rejected = files.flatMap(({ name }, index) => {
      const item = all[index];
      return item?.state === "refused" ? [{ name, reason: item.reason }] : [];
    });
    if (rejected.length > 0) {
      const title = t("chat.attach.left", { count: rejected.length });
      showToast({ tone: "danger", title, message: describeRejectedFiles(rejected, t, language) });
    }
    props.onSent();
  };

  return (
    <>
      <Modal
        labelledBy={`${id}-title`}
        className="rise fixed inset-0 m-0 flex size-full max-h-none max-w-none flex-col bg-surface p-0 text-text sm:m-auto sm:h-[min(44rem,calc(100dvh-3rem))] sm:w-[min(36rem,calc(100vw-3rem))] sm:rounded-bubble sm:border sm:border-line sm:shadow-xl"
        onDismiss={close}
      >
        <div className="flex min-h-14 shrink-0 items-center gap-1 border-b border-line pt-safe pr-4 pl-1">
          <IconButton icon="i-ph-x" label={t("common.cancel")} disabled={isSending} onClick={close} />
          <h2 id={`${id}-title`} className="min-w-0 flex-1 truncate text-lg font-bold">
            {canSend
              ? t(hasOnlyPhotos ? "chat.attach.photos" : "chat.attach.title", { count: files.length - refusedCount })
              : t("chat.attach.titleNone")}
          </h2>
          {totalBytes > 0 && (
            <span className="text-sm text-muted tabular-nums">{formatBytes(totalBytes, language)}</span>
          )}
        </div>
        <AttachmentPreview file={selected} preparation={selectedPreparation} onRemove={() => remove(selected)} />
        {compressible.length > 0 && (
          <label className="flex min-h-12 shrink-0 cursor-pointer items-center gap-3 border-t border-line px-4 py-1.5">
            <input
              type="checkbox"
              className="size-5 shrink-0 accent-[var(--accent-fill)]"
              checked={isOriginal}
              disabled={isSending}
              onChange={({ currentTarget }) => props.onOriginalChange(currentTarget.checked)}
            />
            <span className="min-w-0 flex-1">
              <span className="block">{t("chat.attach.original", { count: compressible.length })}</span>
              <span className="block text-sm text-muted">
                {isOriginal && cannotBeOriginal
                  ? t("chat.attach.originalTooLarge")
                  : t("chat.attach.saving", {
                      small: formatBytes(
                        compressible.reduce((sum, { compressed }) => sum + compressed, 0),
                        language,
                      ),
                      original: formatBytes(
                        compressible.reduce((sum, { original }) => sum + original, 0),
                        language,
                      ),
                    })}
              </span>
            </span>
          </label>
        )}
        <ul
          aria-label={t("chat.attach.chosen")}
          className="flex shrink-0 gap-2 overflow-x-auto border-t border-line px-3 py-2"
        >
          {items.map(({ file, item }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name, and their order stays
            <li key={`${index} ${file.name}`}>
              <AttachmentThumbnail
                file={file}
                preparation={item}
                isSelected={file === selected}
                onSelect={() => setRequestedFile(file)}
              />
            </li>
          ))}
          <li>
            <IconButton
              icon="i-ph-plus"
              label={t("chat.attach.add")}
              disabled={isSending}
              className="size-14! rounded-card! border border-dashed border-field text-muted"
              onClick={() => input.current?.click()}
            />
            <input
              ref={input}
              type="file"
              multiple
              hidden
              onChange={({ currentTarget }) => {
                props.onAdd([...(currentTarget.files ?? [])]);
                currentTarget.value = "";
              }}
            />
          </li>
        </ul>
        {notice !== undefined && (
          <p role="alert" className="shrink-0 border-t border-line bg-danger-soft px-4 py-2 text-sm text-danger">
            {notice}
          </p>
        )}
        <CaptionForm
          conversation={conversation}
          fileName={selected.name}
          caption={captions.get(selected) ?? ""}
          canSend={canSend}
          isSending={isSending}
          onChange={(caption) => props.onCaptionChange(selected, caption)}
          onFiles={props.onAdd}
          onSend={() => void send()}
        />
        <FileDropZone onFiles={props.onAdd} />
      </Modal>
      {isConfirmingDiscard && (
        <DiscardAttachmentsDialog
          hasOnlyCopy={props.hasOnlyCopy}
          onConfirm={props.onClose}
          onClose={() => setConfirmingDiscard(false)}
        />
      )}
    </>
  );
}
