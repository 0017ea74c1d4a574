import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";
import { findAvatarFileError, resizeAvatar, undecodableAvatar } from "#lib/media/avatar-file.ts";

/** Resizes a chosen group picture for upload. Returns undefined after showing a toast if the file cannot be used. */
export const prepareGroupPicture = async (file: File): Promise<Blob | undefined> => {
  const refusal = findAvatarFileError(file);
  if (!refusal) {
    try {
      return await resizeAvatar(file);
    } catch {
      // The browser cannot decode the file as an image.
    }
  }
  const { title, message } = refusal ?? undecodableAvatar;
  showToast({ tone: "danger", title: t(title), message: t(message) });
  return undefined;
};
