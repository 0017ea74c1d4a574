import { useEffect, useRef, useState } from "react";
import { showToast } from "../../components/toast";
import { t } from "../../i18n/setup";
import type { Outgoing } from "../../lib/media/outgoing";

export type ChosenPicture = { id: number; name: string; url: string; outgoing: Outgoing };

/** Pictures chosen to be sent, shrunk as they come in; the addresses they show under end with them. */
export const usePictures = () => {
  const [pictures, setPictures] = useState<ChosenPicture[]>([]);
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
    setPreparing(true);
    for (const file of files) {
      try {
        const { prepareFile } = await import("../../lib/media/prepare");
        const outgoing = await prepareFile(file);
        const url = URL.createObjectURL(outgoing.blob);
        urls.current.add(url);
        const picture = { id: ++lastId.current, name: outgoing.body.name, url, outgoing };
        setPictures((before) => [...before, picture]);
      } catch {
        showToast({ tone: "danger", title: t("common.error"), message: t("masolo.pictureFailed") });
      }
    }
    setPreparing(false);
  };
  const remove = (picture: ChosenPicture) => {
    URL.revokeObjectURL(picture.url);
    urls.current.delete(picture.url);
    setPictures((before) => before.filter(({ id }) => id !== picture.id));
  };
  return { pictures, isPreparing, add, remove };
};
