import { useEffect, useRef, useState } from "react";
import { mediaErrorTexts } from "#components/messages/media-error-texts.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";
import { isUndecodedPicture, MediaError, type PreparedFile } from "#lib/media/outgoing-file.ts";

/** Maximum number of pictures in one broadcast. */
const broadcastPicturesMax = 10;

export type BroadcastPicture = { id: number; name: string; url: string; file: File; outgoing: PreparedFile };

const showPictureError = (message: string): void => showToast({ tone: "danger", title: t("common.error"), message });

/** Pictures of a broadcast, compressed as they are added. Their object URLs are revoked on removal and on unmount. */
export const useBroadcastPictures = () => {
  const [pictures, setPictures] = useState<BroadcastPicture[]>([]);
  const [isPreparing, setPreparing] = useState(false);
  const lastId = useRef(0);
  const urls = useRef(new Set<string>());
  useEffect(
    () => () => {
      for (const url of urls.current) URL.revokeObjectURL(url);
    },
    [],
  );

  const add = async (files: File[]) => {
    const free = broadcastPicturesMax - pictures.length;
    if (files.length > free) showPictureError(t("chat.attach.tooMany", { max: broadcastPicturesMax }));
    setPreparing(true);
    for (const file of files.slice(0, free)) {
      try {
        const { prepareFile } = await import("#lib/media/prepare-attachment.ts");
        const outgoing = await prepareFile(file);
        const url = URL.createObjectURL(outgoing.blob);
        urls.current.add(url);
        const picture = { id: ++lastId.current, name: outgoing.body.name, url, file, outgoing };
        setPictures((before) => [...before, picture]);
        if (isUndecodedPicture(file, outgoing)) showPictureError(t("chat.attach.asFile", { count: 1 }));
      } catch (error) {
        showPictureError(t(mediaErrorTexts[error instanceof MediaError ? error.code : "unreadable"]));
      }
    }
    setPreparing(false);
  };
  const remove = (picture: BroadcastPicture) => {
    URL.revokeObjectURL(picture.url);
    urls.current.delete(picture.url);
    setPictures((before) => before.filter(({ id }) => id !== picture.id));
  };
  return { pictures, isPreparing, add, remove };
};
