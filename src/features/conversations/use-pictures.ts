import { useEffect, useRef, useState } from "react";
import { showToast } from "#components/overlays/toast.tsx";
import { t } from "#i18n/setup.ts";
import { MediaRefusal, type Outgoing } from "#lib/media/outgoing-file.ts";

/** As many pictures go in one broadcast. */
const picturesMax = 10;

const refusedTexts = {
  tooLarge: "chat.attach.tooLarge",
  empty: "chat.attach.empty",
  tooManyPixels: "chat.attach.tooManyPixels",
  unreadable: "chat.attach.unreadable",
} as const satisfies Record<MediaRefusal["code"], string>;

export type ChosenPicture = { id: number; name: string; url: string; file: File; outgoing: Outgoing };

const say = (message: string): void => showToast({ tone: "danger", title: t("common.error"), message });

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
    const room = picturesMax - pictures.length;
    if (files.length > room) say(t("chat.attach.tooMany", { max: picturesMax }));
    setPreparing(true);
    for (const file of files.slice(0, room)) {
      try {
        const { prepareFile } = await import("#lib/media/prepare-attachment.ts");
        const outgoing = await prepareFile(file);
        const url = URL.createObjectURL(outgoing.blob);
        urls.current.add(url);
        const picture = { id: ++lastId.current, name: outgoing.body.name, url, file, outgoing };
        setPictures((before) => [...before, picture]);
      } catch (error) {
        say(t(refusedTexts[error instanceof MediaRefusal ? error.code : "unreadable"]));
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
