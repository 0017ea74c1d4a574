import { type RefObject, useEffect, useEffectEvent, useRef, useState } from "react";
import { type AvatarFileError, findAvatarFileError, resizeAvatar, undecodableAvatar } from "#lib/media/avatar-file.ts";

type ChosenAvatar = { file: File; blob: Promise<Blob | undefined> };

/**
 * Profile picture chosen in a file input: validated and resized while the user goes on typing. A refused file empties
 * the input and calls `onRefuse` with the reason. A file chosen before the script loaded is read on mount. Must be
 * called before the form's hook, so that the picture is there when that hook replays an early submission.
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

  const refuse = (refusal: AvatarFileError) => {
    chosen.current = undefined;
    if (input.current) input.current.value = "";
    setPreview(undefined);
    onRefuse(refusal);
  };

  const readFile = () => {
    const file = input.current?.files?.[0];
    if (!file) {
      // The file picker was closed without a choice.
      chosen.current = undefined;
      setPreview(undefined);
      return;
    }
    const refusal = findAvatarFileError(file);
    if (refusal) return refuse(refusal);
    const isCurrent = () => chosen.current?.file === file;
    const blob = resizeAvatar(file).then(
      (shrunk) => {
        if (isCurrent()) setPreview(URL.createObjectURL(shrunk));
        return shrunk;
      },
      () => {
        if (isCurrent()) refuse(undecodableAvatar);
        return undefined;
      },
    );
    chosen.current = { file, blob };
  };

  const readEarlyFile = useEffectEvent(() => {
    if (input.current?.files?.length) readFile();
  });
  useEffect(() => readEarlyFile(), []);

  return {
    preview,
    readFile,
    getFile: (): File | undefined => chosen.current?.file,
    /** Replaces the centre of the chosen picture by another part of it. */
    setCropped(blob: Blob) {
      if (!chosen.current) return;
      chosen.current = { ...chosen.current, blob: Promise.resolve(blob) };
      setPreview(URL.createObjectURL(blob));
    },
    refuse,
    /** Resolves with the resized picture; undefined if none is chosen or it cannot be decoded. */
    getBlob: async (): Promise<Blob | undefined> => chosen.current?.blob,
  };
};
