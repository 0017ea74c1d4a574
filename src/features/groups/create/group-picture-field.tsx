import { useTranslation } from "react-i18next";
import { useObjectUrl } from "#components/images/use-object-url.ts";

type GroupPictureFieldProps = { picture: Blob | undefined; isBusy: boolean; onChoose: (file: File) => void };

/** Picture of a new group. The whole circle is the file input. */
export function GroupPictureField({ picture, isBusy, onChoose }: GroupPictureFieldProps) {
  const { t } = useTranslation();
  const preview = useObjectUrl(picture);
  return (
    <div className="relative size-18 shrink-0">
      <input
        type="file"
        accept="image/*"
        disabled={isBusy}
        aria-label={t(picture ? "groups.create.changePicture" : "groups.create.addPicture")}
        className="peer absolute inset-0 z-10 size-full cursor-pointer rounded-full opacity-0"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file) onChoose(file);
          currentTarget.value = "";
        }}
      />
      <span
        aria-hidden="true"
        className={`grid size-full place-items-center overflow-hidden rounded-full border-2 bg-surface peer-focus-visible:outline-3 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-accent peer-focus-visible:outline-solid ${preview ? "border-accent" : "border-field border-dashed"}`}
      >
        {preview ? (
          <img src={preview} alt="" className="size-full object-cover" />
        ) : (
          <span className="i-ph-users-three text-[32px] text-muted" />
        )}
      </span>
      <span
        aria-hidden="true"
        className="absolute right--1 bottom--1 grid size-7 place-items-center rounded-full border-2 border-bg bg-accent text-on-accent"
      >
        <span className="i-ph-camera-fill text-[15px]" />
      </span>
    </div>
  );
}
