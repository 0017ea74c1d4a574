import type { RefObject } from "react";
import { useTranslation } from "react-i18next";
import { FieldError } from "#components/controls/text-field.tsx";

type AvatarFieldProps = {
  input: RefObject<HTMLInputElement | null>;
  preview: string | undefined;
  error: string | undefined;
  onChange: () => void;
  /** Shows the frame in which the chosen picture is moved and zoomed. */
  onCrop: () => void;
};

/** Profile picture of a new account. The whole circle is the file input, so it works before any script has loaded. */
export function AvatarField({ input, preview, error, onChange, onCrop }: AvatarFieldProps) {
  const { t } = useTranslation();
  return (
    <div className="flex items-center gap-5">
      <div className="relative size-24 shrink-0">
        <input
          ref={input}
          id="avatar"
          name="avatar"
          type="file"
          accept="image/*"
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? "avatar-error avatar-hint" : "avatar-hint"}
          onChange={onChange}
          className="peer absolute inset-0 z-10 size-full scroll-mt-36 cursor-pointer rounded-full opacity-0"
        />
        <span
          className={`grid size-full place-items-center overflow-hidden rounded-full border-2 bg-surface peer-focus-visible:outline-3 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-accent ${error ? "border-danger" : preview ? "border-accent" : "border-field border-dashed"}`}
        >
          {preview ? (
            <img src={preview} alt="" className="size-full object-cover" />
          ) : (
            <span className="i-ph-user text-4xl text-muted" aria-hidden="true" />
          )}
        </span>
        <span className="absolute right--1 bottom--1 grid size-9 place-items-center rounded-full border-2 border-bg bg-accent text-on-accent">
          <span className="i-ph-camera-fill text-lg" aria-hidden="true" />
        </span>
      </div>
      <div className="min-w-0 flex-1">
        <label htmlFor="avatar" className="block cursor-pointer font-semibold">
          {t("auth.profilePicture")}
        </label>
        <p id="avatar-hint" className="text-sm text-muted">
          {t(preview ? "auth.changePicture" : "auth.choosePicture")}. {t("auth.pictureHint")}
        </p>
        {preview && (
          <button type="button" className="min-h-12 font-semibold text-accent hover:underline" onClick={onCrop}>
            {t("profile.cropTitle")}
          </button>
        )}
        <FieldError id="avatar" error={error} />
      </div>
    </div>
  );
}
