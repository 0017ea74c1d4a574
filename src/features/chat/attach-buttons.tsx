import { type ChangeEvent, useRef } from "react";
import { IconButton } from "../../components/icon-button";
import { useT } from "../../i18n/setup";

const look = "text-muted hover:text-text";

type AttachButtonsProps = { onFiles: (files: File[]) => void; onCamera: () => void };

/** File, picture, camera. */
export function AttachButtons({ onFiles, onCamera }: AttachButtonsProps) {
  const t = useT();
  const anyFile = useRef<HTMLInputElement>(null);
  const pictures = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const onChange = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    onFiles([...(currentTarget.files ?? [])]);
    currentTarget.value = ""; // the same file can be chosen again
  };
  // Our own camera wherever there is one: another app in front is when a small phone ends this page. The phone's
  // app takes over where a page gets no camera.
  const openCamera = () => {
    if ("mediaDevices" in navigator) onCamera();
    else camera.current?.click();
  };
  return (
    <>
      <IconButton
        icon="i-ph-paperclip"
        label={t("chat.attach.file")}
        className={look}
        onClick={() => anyFile.current?.click()}
      />
      <IconButton
        icon="i-ph-image"
        label={t("chat.attach.image")}
        className={look}
        onClick={() => pictures.current?.click()}
      />
      <IconButton icon="i-ph-camera" label={t("chat.attach.camera")} className={look} onClick={openCamera} />
      <input ref={anyFile} type="file" multiple hidden onChange={onChange} data-attach="file" />
      <input ref={pictures} type="file" accept="image/*" multiple hidden onChange={onChange} data-attach="image" />
      <input ref={camera} type="file" accept="image/*" capture="environment" hidden onChange={onChange} />
    </>
  );
}
