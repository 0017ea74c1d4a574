import { useState } from "react";
import { loadOrTell } from "#components/overlays/load-with-toast.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";
import { MediaRefusal } from "#lib/media/outgoing-file.ts";
import type { OutgoingPicture } from "#sync/feed/feed-commands.ts";

const refusedTexts = {
  tooLarge: "tala.pictureTooLarge",
  empty: "chat.attach.empty",
  tooManyPixels: "chat.attach.tooManyPixels",
  unreadable: "tala.notAnImage",
} as const satisfies Record<MediaRefusal["code"], string>;

/** As it will be published, and as a file to be kept until then. */
export type ChosenPicture = { file: File; outgoing: OutgoingPicture };

/** The picture of the status that is being written: made small as soon as it is chosen. */
export const usePicture = () => {
  const [picture, setPicture] = useState<ChosenPicture>();
  const [isPreparing, setPreparing] = useState(false);
  const choose = async (file: File) => {
    setPreparing(true);
    try {
      const loaded = await loadOrTell(() => import("#lib/media/post-picture.ts"));
      if (!loaded) return;
      const outgoing = await loaded.preparePostPicture(file);
      setPicture({ outgoing, file: new File([outgoing.blob], "status", { type: outgoing.blob.type }) });
    } catch (error) {
      const why = error instanceof MediaRefusal ? error.code : "unreadable";
      showToast({ tone: "danger", title: t("common.error"), message: t(refusedTexts[why]) });
    } finally {
      setPreparing(false);
    }
  };
  return { picture, isPreparing, choose, remove: () => setPicture(undefined) };
};
