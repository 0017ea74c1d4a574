import { useState } from "react";
import { useTranslation } from "react-i18next";
import PictureCropper, { type PictureCropperProps } from "#components/controls/picture-cropper.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { Sheet } from "#components/overlays/sheet.tsx";
import { isFreshFile } from "#lib/media/fresh-file.ts";

type CropSheetProps = PictureCropperProps & { file: File; onClose: () => void };

/** Sheet to crop a profile picture. It asks before a photo is discarded that may exist nowhere else. */
export function CropSheet({ file, onClose, ...props }: CropSheetProps) {
  const { t } = useTranslation();
  const [isConfirmingDiscard, setConfirmingDiscard] = useState(false);
  return (
    <>
      <Sheet
        title={t("profile.cropTitle")}
        onClose={() => (isFreshFile(file) ? setConfirmingDiscard(true) : onClose())}
      >
        <PictureCropper file={file} {...props} />
      </Sheet>
      <ConfirmDialog
        open={isConfirmingDiscard}
        title={t("profile.cropDiscardTitle")}
        body={t("profile.cropDiscardBody")}
        confirmLabel={t("profile.cropDiscardConfirm")}
        cancelLabel={t("profile.cropDiscardStay")}
        onConfirm={onClose}
        onClose={() => setConfirmingDiscard(false)}
      />
    </>
  );
}
