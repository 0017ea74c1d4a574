import { type RefObject, useEffect, useEffectEvent, useRef, useState } from "react";
import { type AvatarFileError, findAvatarFileError, resizeAvatar } from "#lib/media/avatar-file.ts";

type ChosenAvatar = { file: File; blob: Promise<Blob | undefined> };

/**
 * The picture a person chose in a file input: looked at and shrunk while they go on typing. `onRefuse` hears
 * why a file was not taken; the input is empty then. What was chosen before the script arrived is taken with it: called
 * before the form's hook, this has the picture when that carries out what was sent by then.
 */
export const useAvatarInput = (
  input: RefObject<HTMLInputElement | null>,
  onRefuse: (refusal: AvatarFileError) => void,
) => {
  const [preview, setPreview] = useState<string>();
  const chosen = useRef<ChosenAvatar>(undefined);

  useEffect(() => {
    return preview === undefined ? undefined : () => URL.revokeObjectURL(preview);
  }, [preview]);

  const drop = (refusal: AvatarFileError) => {
    chosen.current = undefined;
    if (input.current) input.current.value = "";
    setPreview(undefined);
    onRefuse(refusal);
  };

  const take = () => {
    const file = input.current?.files?.[0];
    if (!file) {
      // The person opened the picker and left it without a choice.
      chosen.current = undefined;
      setPreview(undefined);
      return;
    }
    const refusal = findAvatarFileError(file);
    if (refusal) return drop(refusal);
    const isStillChosen = () => chosen.current?.file === file;
    const blob = resizeAvatar(file).then(
      (shrunk) => {
        if (isStillChosen()) setPreview(URL.createObjectURL(shrunk));
        return shrunk;
      },
      () => {
        if (isStillChosen()) drop({ title: "common.error", message: "auth.notAnImage" });
        return undefined;
      },
    );
    chosen.current = { file, blob };
  };

  const takeEarly = useEffectEvent(() => {
    if (input.current?.files?.length) take();
  });
  useEffect(() => takeEarly(), []);

  return {
    preview,
    take,
    /** The picture to send, as soon as it is ready; undefined when none is chosen or it cannot be read. */
    getBlob: async (): Promise<Blob | undefined> => chosen.current?.blob,
  };
};
