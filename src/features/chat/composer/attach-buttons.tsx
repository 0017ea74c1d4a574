import { type ChangeEvent, useRef } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { MenuButton, type MenuItem } from "#components/overlays/menu.tsx";

const buttonLook = "text-muted hover:text-text";

type AttachButtonsProps = { onFiles: (files: File[]) => void; onCamera: () => void };

/** File, picture, camera: behind one button where the field needs the width. */
export function AttachButtons({ onFiles, onCamera }: AttachButtonsProps) {
  const { t } = useTranslation();
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
  const ways: MenuItem[] = [
    {
      id: "file",
      label: t("chat.attach.file"),
      icon: "i-ph-paperclip",
      onSelect: () => anyFile.current?.click(),
    },
    {
      id: "image",
      label: t("chat.attach.image"),
      icon: "i-ph-image",
      onSelect: () => pictures.current?.click(),
    },
    { id: "camera", label: t("chat.attach.camera"), icon: "i-ph-camera", onSelect: openCamera },
  ];
  return (
    <>
      <MenuButton icon="i-ph-plus" label={t("chat.attach.menu")} items={ways} className={`sm:hidden ${buttonLook}`} />
      <div className="hidden sm:flex">
        {ways.map(({ id, label, icon = "", onSelect }) => (
          <IconButton key={id} icon={icon} label={label} className={buttonLook} onClick={onSelect} />
        ))}
      </div>
      <input ref={anyFile} type="file" multiple hidden onChange={onChange} data-attach="file" />
      <input ref={pictures} type="file" accept="image/*" multiple hidden onChange={onChange} data-attach="image" />
      <input ref={camera} type="file" accept="image/*" capture="environment" hidden onChange={onChange} />
    </>
  );
}
