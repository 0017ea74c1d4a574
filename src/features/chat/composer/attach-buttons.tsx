import { type ChangeEvent, useRef } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { MenuButton, type MenuItem } from "#components/overlays/menu.tsx";

const buttonClasses = "text-muted hover:text-text";

type AttachButtonsProps = { onFiles: (files: File[]) => void; onCamera: () => void };

/** Buttons for files, images and the camera; one menu button on narrow screens. */
export function AttachButtons({ onFiles, onCamera }: AttachButtonsProps) {
  const { t } = useTranslation();
  const fileInput = useRef<HTMLInputElement>(null);
  const imageInput = useRef<HTMLInputElement>(null);
  const cameraInput = useRef<HTMLInputElement>(null);
  const onChange = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    onFiles([...(currentTarget.files ?? [])]);
    currentTarget.value = ""; // allows choosing the same file again
  };
  // Prefers the built-in camera sheet: a phone with little memory may kill this page while a camera app is in front.
  // Falls back to the camera app in browsers without `mediaDevices`.
  const openCamera = () => {
    if ("mediaDevices" in navigator) onCamera();
    else cameraInput.current?.click();
  };
  const items: MenuItem[] = [
    {
      id: "file",
      label: t("chat.attach.file"),
      icon: "i-ph-paperclip",
      onSelect: () => fileInput.current?.click(),
    },
    {
      id: "image",
      label: t("chat.attach.image"),
      icon: "i-ph-image",
      onSelect: () => imageInput.current?.click(),
    },
    { id: "camera", label: t("chat.attach.camera"), icon: "i-ph-camera", onSelect: openCamera },
  ];
  return (
    <>
      <MenuButton
        icon="i-ph-plus"
        label={t("chat.attach.menu")}
        items={items}
        className={`sm:hidden ${buttonClasses}`}
      />
      <div className="hidden sm:flex">
        {items.map(({ id, label, icon = "", onSelect }) => (
          <IconButton key={id} icon={icon} label={label} className={buttonClasses} onClick={onSelect} />
        ))}
      </div>
      <input ref={fileInput} type="file" multiple hidden onChange={onChange} data-attach="file" />
      <input ref={imageInput} type="file" accept="image/*" multiple hidden onChange={onChange} data-attach="image" />
      <input ref={cameraInput} type="file" accept="image/*" capture="environment" hidden onChange={onChange} />
    </>
  );
}
