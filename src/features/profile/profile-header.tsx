import { type ChangeEvent, type RefObject, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { IconButton } from "#components/controls/icon-button.tsx";
import { TextField } from "#components/controls/text-field.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { Avatar } from "#components/people/avatar.tsx";
import { PhoneNumber } from "#components/people/phone-number.tsx";
import { displayNameMaxLength } from "#contract/limits/people.ts";
import { isComposingKey } from "#lib/browser/composing-key.ts";
import { findAvatarFileError, undecodableAvatar } from "#lib/media/avatar-file.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { CropSheet } from "./crop-sheet.tsx";
import { useProfileEdit } from "./use-profile-edit.ts";

const avatarPx = 112;

const focusAtEnd = (field: HTMLInputElement | null): void => {
  field?.focus();
  field?.setSelectionRange(field.value.length, field.value.length);
};

/** Focuses `target` when the edit ends, if the focused element was removed with it. */
const useFocusWhenDone = (isEditing: boolean, target: RefObject<HTMLElement | null>): void =>
  useEffect(() => {
    if (!isEditing) return;
    return () => {
      if (document.activeElement === document.body) target.current?.focus();
    };
  }, [isEditing, target]);

type OwnPictureFieldProps = {
  me: PersonRow;
  preview: string | undefined;
  isBusy: boolean;
  onChoose: (file: File) => void;
};

/** Own profile picture. The whole circle is the file input. */
function OwnPictureField({ me, preview, isBusy, onChoose }: OwnPictureFieldProps) {
  const { t } = useTranslation();
  const choose = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    const file = currentTarget.files?.[0];
    currentTarget.value = "";
    if (file) onChoose(file);
  };
  return (
    <div className="relative" style={{ width: avatarPx, height: avatarPx }}>
      <input
        type="file"
        accept="image/*"
        disabled={isBusy}
        aria-label={t("auth.changePicture")}
        title={t("auth.changePicture")}
        className="peer absolute inset-0 z-10 size-full cursor-pointer rounded-full opacity-0"
        onChange={choose}
      />
      <span className="block overflow-hidden rounded-full peer-focus-visible:outline-3 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-accent peer-focus-visible:outline-solid">
        {preview ? (
          <img src={preview} alt="" width={avatarPx} height={avatarPx} className="rounded-full" />
        ) : (
          <Avatar person={me} size={avatarPx} />
        )}
      </span>
      <span
        aria-hidden="true"
        className="absolute right--1 bottom--1 grid size-10 place-items-center rounded-full border-2 border-bg bg-accent text-on-accent"
      >
        <span className="i-ph-camera-fill text-[20px]" />
      </span>
    </div>
  );
}

/** Own picture, name and phone number, with editing of picture and name. */
export function OwnProfileHeader({ me }: { me: PersonRow }) {
  const { t } = useTranslation();
  const edit = useProfileEdit(me);
  const [file, setFile] = useState<File>();
  const pencil = useRef<HTMLButtonElement>(null);
  useFocusWhenDone(edit.name !== undefined, pencil);
  useFocusWhenDone(edit.isPending, pencil);

  const selectFile = (chosen: File) => {
    const refusal = findAvatarFileError(chosen);
    if (!refusal) return setFile(chosen);
    showToast({ tone: "danger", title: t(refusal.title), message: t(refusal.message) });
  };
  const showUnreadable = () => {
    setFile(undefined);
    showToast({ tone: "danger", title: t("profile.fileFailed"), message: t(undecodableAvatar.message) });
  };

  return (
    <>
      <form
        aria-label={t("profile.title")}
        className="flex min-h-54 flex-col items-center gap-1 py-4 text-center"
        onSubmit={(event) => {
          event.preventDefault();
          if (!edit.isBusy) void edit.save();
        }}
      >
        <OwnPictureField me={me} preview={edit.preview} isBusy={edit.isBusy} onChoose={selectFile} />
        <p role="status" className={edit.hasPicture ? "mt-2 text-sm text-muted" : "sr-only"}>
          {edit.hasPicture && t("profile.pictureWaits")}
        </p>
        {edit.name === undefined ? (
          <div className="mt-1 flex max-w-full items-center gap-1 pl-12">
            <p className="min-w-0 text-[length:calc(1rem+8px)] leading-[calc(1rem+16px)] font-bold break-words">
              <bdi>{me.username || t("common.user")}</bdi>
            </p>
            <IconButton
              icon="i-ph-pencil-simple"
              label={t("profile.editName")}
              className="text-muted"
              ref={pencil}
              onClick={() => edit.setName(me.username)}
            />
          </div>
        ) : (
          <TextField
            id="displayName"
            label={t("auth.displayName")}
            className="mt-3 w-full max-w-80 text-left"
            maxLength={displayNameMaxLength}
            autoComplete="nickname"
            enterKeyHint="done"
            dir="auto"
            readOnly={edit.isBusy}
            value={edit.name}
            error={edit.problem}
            focusOnError
            ref={focusAtEnd}
            onChange={({ target }) => edit.setName(target.value)}
            onKeyDown={({ key, nativeEvent }) =>
              key === "Escape" && !isComposingKey(nativeEvent) && !edit.isBusy && edit.setName(undefined)
            }
          />
        )}
        <p className="text-muted">
          <PhoneNumber phone={me.phone} />
        </p>
        {edit.isPending && (
          <div className="mt-3 flex w-full max-w-80 flex-wrap gap-3">
            <Button type="submit" busy={edit.isBusy} busyLabel={t("profile.saving")} className="grow">
              {t("profile.save")}
            </Button>
            <Button variant="secondary" disabled={edit.isBusy} className="grow" onClick={edit.cancel}>
              {t("common.cancel")}
            </Button>
          </div>
        )}
      </form>
      {file && (
        <CropSheet
          file={file}
          onDone={(picture) => {
            setFile(undefined);
            edit.setPicture(picture);
          }}
          onUnreadable={showUnreadable}
          onClose={() => setFile(undefined)}
        />
      )}
    </>
  );
}
