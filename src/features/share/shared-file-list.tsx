import { useTranslation } from "react-i18next";
import { Spinner } from "#components/controls/spinner.tsx";
import { useObjectUrl } from "#components/images/use-object-url.ts";
import { mediaErrorTexts } from "#components/messages/media-error-texts.ts";
import { cleanFileName } from "#contract/files.ts";
import { isUndecodedPicture } from "#lib/media/outgoing-file.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import type { SharedFile } from "./use-shared-files.ts";

function SharedFileTile({ shared, onRemove }: { shared: SharedFile; onRemove: () => void }) {
  const { t } = useTranslation();
  const { file, outgoing, reason } = shared;
  const url = useObjectUrl(outgoing?.body.type === "image" ? outgoing.blob : undefined);
  const name = cleanFileName(file.name);
  return (
    <li className="relative size-20 shrink-0 overflow-hidden rounded-card bg-raised">
      {url ? (
        <img src={url} alt={name} className="size-full object-cover" />
      ) : (
        <span className="flex size-full items-end justify-center p-1 text-center text-xs">
          {outgoing || reason ? (
            <bdi className={`line-clamp-3 break-all ${reason ? "text-danger" : ""}`}>{name}</bdi>
          ) : (
            <Spinner label={t("chat.attach.preparing")} className="m-auto text-xl text-accent" />
          )}
        </span>
      )}
      <button
        type="button"
        aria-label={t("chat.attach.remove", { name })}
        title={t("chat.attach.remove", { name })}
        className="absolute top-0 right-0 grid size-12 place-items-start justify-end p-1 -outline-offset-3"
        onClick={onRemove}
      >
        <span className="grid size-6 place-items-center rounded-full bg-black/70 text-[14px] text-white">
          <span className="i-ph-x-bold" aria-hidden="true" />
        </span>
      </button>
    </li>
  );
}

/** Preview of shared files, and why some of them cannot be sent. */
export function SharedFileList({
  files,
  refusedCount,
  onRemove,
}: {
  files: readonly SharedFile[];
  refusedCount: number;
  onRemove: (id: number) => void;
}) {
  const { t } = useTranslation();
  const undecodedCount = files.filter(({ file, outgoing }) => outgoing && isUndecodedPicture(file, outgoing)).length;
  return (
    <>
      {files.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling row must be reachable by keyboard
        <ul tabIndex={0} aria-label={t("share.files")} className="flex gap-2 overflow-x-auto">
          {files.map((shared) => (
            <SharedFileTile key={shared.id} shared={shared} onRemove={() => onRemove(shared.id)} />
          ))}
        </ul>
      )}
      <div role="status" className="text-sm text-danger empty:hidden">
        {files.map(({ id, file, reason }) =>
          reason ? (
            <p key={id} className="[overflow-wrap:anywhere]">
              {t("chat.attach.leftWhy", {
                name: isolateBidi(cleanFileName(file.name)),
                why: t(mediaErrorTexts[reason]),
              })}
            </p>
          ) : null,
        )}
        {undecodedCount > 0 && <p>{t("chat.attach.asFile", { count: undecodedCount })}</p>}
        {refusedCount > 0 && <p>{t("share.refused", { count: refusedCount })}</p>}
      </div>
    </>
  );
}
