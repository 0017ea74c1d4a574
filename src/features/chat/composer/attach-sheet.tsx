import { useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Modal } from "#components/overlays/modal.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { cleanText, isBlank } from "#contract/text.ts";
import { formatBytes } from "#i18n/format.ts";
import { type TextKey, useLanguage } from "#i18n/setup.ts";
import type { PreparedFile } from "#lib/media/outgoing-file.ts";
import { type DraftSlot, SyncError, sendFiles } from "#sync/actions.ts";
import { AttachmentPreview, AttachmentThumbnail } from "./attach-preview.tsx";
import { CaptionForm } from "./caption-form.tsx";
import { DiscardAttachmentsDialog } from "./discard-dialog.tsx";
import { FileDropZone } from "./file-drop.tsx";
import { attachedFilesMax } from "./files-max.ts";
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
  /** Pictures go as large as they are. */
  isOriginal: boolean;
  /** More were chosen than go at a time. */
  isOverLimit: boolean;
  /** Where it is kept until it is sent. */
  getSavedDraft: () => Promise<DraftSlot | undefined>;
  onAdd: (files: File[]) => void;
  onRemove: (file: File) => void;
  onCaptionChange: (file: File, caption: string) => void;
  onOriginalChange: (isOriginal: boolean) => void;
  onSent: () => void;
  onClose: () => void;
};

/** The form in which it goes; the smaller one where the original cannot. */
const selectOutgoingFile = (prepared: MediaPreparation, wantsOriginal: boolean): PreparedFile | undefined => {
  if (prepared.state !== "ready") return undefined;
  return wantsOriginal ? (prepared.original ?? prepared.compressed) : prepared.compressed;
};

const withCaption = ({ blob, body }: PreparedFile, caption: string | undefined): PreparedFile => {
  const text = cleanText(caption ?? "");
  return isBlank(text) || body.type === "voice" ? { blob, body } : { blob, body: { ...body, text } };
};

/** Choosing or writing it again would cost something: more than one file, or words to one. */
const needsDiscardConfirmation = (files: File[], captions: ReadonlyMap<File, string>): boolean =>
  files.length > 1 || files.some((file) => !isBlank(cleanText(captions.get(file) ?? "")));

/** What is about to be sent: looked at, captioned, weighed, taken out again. Closing it sends nothing. */
export default function AttachSheet({ conversation, files, captions, isOriginal, ...props }: AttachSheetProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const prepared = useMediaPreparation(files);
  const [wanted, setWanted] = useState<File>();
  const [isSending, setSending] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const [trouble, setTrouble] = useState<keyof typeof sendErrorTexts>();
  const selected = wanted && files.includes(wanted) ? wanted : files[0];
  if (!selected) return null;

  const items = files.map((file) => ({ file, item: prepared.of(file) }));
  const shown = prepared.of(selected);
  const outgoing = items.flatMap(({ item }) => selectOutgoingFile(item, isOriginal) ?? []);
  const refusedCount = items.filter(({ item }) => item.state === "refused").length;
  const canSend = refusedCount < items.length;
  const total = outgoing.reduce((sum, { blob }) => sum + blob.size, 0);
  const shrunk = items.flatMap(({ file, item }) =>
    item.state === "ready" && item.compressed.blob !== file
      ? { small: item.compressed.blob.size, original: file.size }
      : [],
  );
  const cannotBeOriginal = items.some(({ item }) => item.state === "ready" && !item.original);

  const remove = (file: File) => {
    if (files.length === 1) return props.onClose();
    const next = files[files.indexOf(file) + 1] ?? files.at(-2);
    if (file === selected) setWanted(next);
    props.onRemove(file);
  };

  const leave = () => {
    if (isSending) return;
    if (needsDiscardConfirmation(files, captions)) setLeaving(true);
    else props.onClose();
  };

  const send = async () => {
    if (!canSend || isSending) return;
    setSending(true);
    setTrouble(undefined);
    const all = await prepared.all();
    // What turned out to be refused meanwhile is looked at first; a second press sends the rest.
    const refused = all.findIndex(({ state }) => state === "refused");
    if (all.filter(({ state }) => state === "refused").length > refusedCount) {
      setWanted(files[refused]);
      setSending(false);
      return;
    }
    const going = files.flatMap((file, at) => {
      const chosen = all[at] && selectOutgoingFile(all[at], isOriginal);
      return chosen ? withCaption(chosen, captions.get(file)) : [];
    });
    try {
      await sendFiles(conversation, going, await props.getSavedDraft());
    } catch (error) {
      setTrouble(error instanceof SyncError && error.code === "no_room" ? "noRoom" : "failed");
      setSending(false);
      return;
    }
    const left = files.flatMap(({ name }, at) => {
      const item = all[at];
      return item?.state === "refused" ? [{ name, why: item.reason }] : [];
    });
    if (left.length > 0) {
      const title = t("chat.attach.left", { count: left.length });
      showToast({ tone: "danger", title, message: describeRejectedFiles(left, t, language) });
    }
    props.onSent();
  };

  return (
    <>
      <Modal
        labelledBy={`${id}-title`}
        className="rise fixed inset-0 m-0 flex size-full max-h-none max-w-none flex-col bg-surface p-0 text-text sm:m-auto sm:h-[min(44rem,calc(100dvh-3rem))] sm:w-[min(36rem,calc(100vw-3rem))] sm:rounded-bubble sm:border sm:border-line sm:shadow-xl"
        onDismiss={leave}
      >
        <div className="flex min-h-14 shrink-0 items-center gap-1 border-b border-line pt-safe pr-4 pl-1">
          <IconButton icon="i-ph-x" label={t("common.cancel")} disabled={isSending} onClick={leave} />
          <h2 id={`${id}-title`} className="min-w-0 flex-1 truncate text-lg font-bold">
            {canSend ? t("chat.attach.title", { count: files.length - refusedCount }) : t("chat.attach.titleNone")}
          </h2>
          {total > 0 && <span className="text-sm text-muted tabular-nums">{formatBytes(total, language)}</span>}
        </div>
        <AttachmentPreview file={selected} prepared={shown} onRemove={() => remove(selected)} />
        {shrunk.length > 0 && (
          <label className="flex min-h-12 shrink-0 cursor-pointer items-center gap-3 border-t border-line px-4 py-1.5">
            <input
              type="checkbox"
              className="size-5 shrink-0 accent-[var(--accent-fill)]"
              checked={isOriginal}
              disabled={isSending}
              onChange={({ currentTarget }) => props.onOriginalChange(currentTarget.checked)}
            />
            <span className="min-w-0 flex-1">
              <span className="block">{t("chat.attach.original", { count: shrunk.length })}</span>
              <span className="block text-sm text-muted">
                {isOriginal && cannotBeOriginal
                  ? t("chat.attach.originalTooLarge")
                  : t("chat.attach.saving", {
                      small: formatBytes(
                        shrunk.reduce((sum, { small }) => sum + small, 0),
                        language,
                      ),
                      original: formatBytes(
                        shrunk.reduce((sum, { original }) => sum + original, 0),
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
          {items.map(({ file, item }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name, and their order stays
            <li key={`${at} ${file.name}`}>
              <AttachmentThumbnail
                file={file}
                preparation={item}
                isSelected={file === selected}
                onSelect={() => setWanted(file)}
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
        {(trouble || props.isOverLimit) && (
          <p role="alert" className="shrink-0 border-t border-line bg-danger-soft px-4 py-2 text-sm text-danger">
            {trouble ? t(sendErrorTexts[trouble]) : t("chat.attach.tooMany", { max: attachedFilesMax })}
          </p>
        )}
        <CaptionForm
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
      {isLeaving && <DiscardAttachmentsDialog onConfirm={props.onClose} onClose={() => setLeaving(false)} />}
    </>
  );
}
