import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";
import { findAvatarFileError, resizeAvatar } from "#lib/media/avatar-file.ts";

/** A chosen picture as it is sent; says why one cannot be taken and answers undefined then. */
export const prepareGroupPicture = async (file: File): Promise<Blob | undefined> => {
  const refusal = findAvatarFileError(file);
  if (!refusal) {
    try {
      return await resizeAvatar(file);
    } catch {
      // No picture that this browser can read.
    }
  }
  const { title, message } = refusal ?? { title: "common.error", message: "auth.notAnImage" };
  showToast({ tone: "danger", title: t(title), message: t(message) });
  return undefined;
};
