import { useTranslation } from "react-i18next";
import { Spinner } from "#components/controls/spinner.tsx";
import type { BroadcastPicture } from "./use-broadcast-pictures.ts";

type PictureStripProps = {
  pictures: BroadcastPicture[];
  isPreparing: boolean;
  onRemove: (picture: BroadcastPicture) => void;
};

/** Pictures of a broadcast, each with a button to remove it. */
export function PictureStrip({ pictures, isPreparing, onRemove }: PictureStripProps) {
  const { t } = useTranslation();
  if (pictures.length === 0 && !isPreparing) return null;
  return (
    <ul className="flex gap-2 overflow-x-auto pb-3">
      {pictures.map((picture) => (
        <li key={picture.id} className="relative size-20 shrink-0 overflow-hidden rounded-card bg-raised">
          {picture.outgoing.body.type === "image" ? (
            <img src={picture.url} alt={picture.name} className="size-full object-cover" />
          ) : (
            <span className="grid size-full place-items-center p-1 text-center text-xs break-all">{picture.name}</span>
          )}
          <button
            type="button"
            aria-label={t("chat.attach.remove", { name: picture.name })}
            title={t("chat.attach.remove", { name: picture.name })}
            className="absolute top-0 right-0 grid size-12 place-items-start justify-end p-1 -outline-offset-3"
            onClick={() => onRemove(picture)}
          >
            <span className="grid size-6 place-items-center rounded-full bg-black/70 text-[14px] text-white">
              <span className="i-ph-x-bold" aria-hidden="true" />
            </span>
          </button>
        </li>
      ))}
      {isPreparing && (
        <li className="grid size-20 shrink-0 place-items-center rounded-card bg-raised text-accent">
          <Spinner label={t("common.loading")} />
        </li>
      )}
    </ul>
  );
}
