import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { IconButton, iconButtonClasses } from "#components/controls/icon-button.tsx";
import { useObjectUrl } from "#components/images/use-object-url.ts";
import { copyText } from "#components/overlays/copy-text.ts";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { DiscardAttachmentsDialog } from "#features/chat/composer/discard-dialog.tsx";
import { formatBytes } from "#i18n/format-bytes.ts";
import { useLanguage } from "#i18n/setup.ts";
import { balanceBidi } from "#lib/text/bidi.ts";
import { readDraftFile } from "#sync/actions/message-actions.ts";
import { discardDrafts } from "#sync/drafts/delete-drafts.ts";
import { getEngine } from "#sync/engine/engine.ts";
import type { UnsentContent } from "#sync/hooks/use-unsent-content.ts";

const useUnsentFileBlob = (id: Uuid): Blob | undefined => {
  const [blob, setBlob] = useState<Blob>();
  useEffect(() => {
    let isCurrent = true;
    readDraftFile(id).then(
      (read) => isCurrent && setBlob(read),
      (error: unknown) => console.warn("an unsent file cannot be read", error),
    );
    return () => {
      isCurrent = false;
    };
  }, [id]);
  return blob;
};

function UnsentFileItem({ file }: { file: UnsentContent["files"][number] }) {
  const { t } = useTranslation();
  const language = useLanguage();
  const blob = useUnsentFileBlob(file.id);
  const url = useObjectUrl(blob);
  const [isImage, setImage] = useState(file.type.startsWith("image/"));
  return (
    <li className="flex items-start gap-3 py-1">
      <span className="grid size-12 shrink-0 place-items-center overflow-hidden rounded-card bg-raised text-2xl text-muted">
        {url && isImage ? (
          <img src={url} alt="" className="size-full object-cover" onError={() => setImage(false)} />
        ) : (
          <span className={isImage ? "i-ph-image" : "i-ph-file"} aria-hidden="true" />
        )}
      </span>
      <div className="min-w-0 flex-1">
        <bdi className="block truncate">{file.name}</bdi>
        <span className="text-sm text-muted tabular-nums">{blob && formatBytes(blob.size, language)}</span>
        {file.caption !== "" && (
          <p className="whitespace-pre-wrap [unicode-bidi:plaintext] [overflow-wrap:anywhere]">
            {balanceBidi(file.caption)}
          </p>
        )}
      </div>
      {file.caption !== "" && (
        <IconButton
          icon="i-ph-copy"
          label={t("groups.chat.copyCaption", { name: file.name })}
          onClick={() => void copyText(file.caption)}
        />
      )}
      {url && (
        <a href={url} download={file.name} className={iconButtonClasses} title={t("messages.save")}>
          <span className="i-ph-download-simple" aria-hidden="true" />
          <span className="sr-only">{t("messages.saveFile", { name: file.name })}</span>
        </a>
      )}
    </li>
  );
}

/** Unsent files in a group that the user has left: previews with buttons to save, copy and discard. */
export function UnsentFileList({
  conversation,
  files,
}: {
  conversation: ConversationId;
  files: UnsentContent["files"];
}) {
  const { t } = useTranslation();
  const [isConfirmingDiscard, setConfirmingDiscard] = useState(false);
  const discard = () => {
    setConfirmingDiscard(false);
    discardDrafts(getEngine().client, conversation).catch(() =>
      showToast({ tone: "danger", title: t("common.error"), message: t("errors.unavailable") }),
    );
  };
  return (
    <section className="border-t border-line px-4 pt-3 pb-2">
      <h2 className="text-sm font-semibold text-muted">{t("groups.chat.leftFiles", { count: files.length })}</h2>
      <ul>
        {files.map((file) => (
          <UnsentFileItem key={file.id} file={file} />
        ))}
      </ul>
      <div className="flex justify-end">
        <Button variant="quiet" className="!px-3 !text-danger" onClick={() => setConfirmingDiscard(true)}>
          {t("chat.attach.discardConfirm")}
        </Button>
      </div>
      {isConfirmingDiscard && (
        <DiscardAttachmentsDialog hasOnlyCopy onConfirm={discard} onClose={() => setConfirmingDiscard(false)} />
      )}
    </section>
  );
}
