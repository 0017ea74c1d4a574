import { useState } from "react";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";
import { MediaError } from "#lib/media/outgoing-file.ts";
import type { OutgoingPicture } from "#sync/actions/posts.ts";

const pictureRefusalTexts = {
  tooLarge: "tala.pictureTooLarge",
  empty: "chat.attach.empty",
  tooManyPixels: "chat.attach.tooManyPixels",
  unreadable: "common.pictureUnreadable",
} as const satisfies Record<MediaError["code"], string>;

/** Picture prepared for publication, and the file stored in the draft. */
export type PostPictureSelection = { file: File; outgoing: OutgoingPicture };

/** Picture of the post being written, resized when it is selected. */
export const usePostPicture = () => {
  const [picture, setPicture] = useState<PostPictureSelection>();
  const [isPreparing, setPreparing] = useState(false);
  const choose = async (file: File) => {
    setPreparing(true);
    try {
      const loaded = await loadOrShowToast(() => import("#lib/media/post-picture.ts"));
      if (!loaded) return;
      const outgoing = await loaded.preparePostPicture(file);
      setPicture({ outgoing, file: new File([outgoing.blob], "status", { type: outgoing.blob.type }) });
    } catch (error) {
      const code = error instanceof MediaError ? error.code : "unreadable";
      showToast({ tone: "danger", title: t("common.error"), message: t(pictureRefusalTexts[code]) });
    } finally {
      setPreparing(false);
    }
  };
  return { picture, isPreparing, choose, remove: () => setPicture(undefined) };
};
