import type { RefObject } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { openFileDialog } from "./open-file-dialog.ts";

/** Buttons for files and images (SPEC.md §2), beside the menu where a screen has room for them. */
export default function AttachShortcuts({ input }: { input: RefObject<HTMLInputElement | null> }) {
  const { t } = useTranslation();
  const className = "text-muted hover:text-text";
  return (
    <span className="flex gap-x-2">
      <IconButton
        icon="i-ph-paperclip"
        label={t("chat.attach.file")}
        className={className}
        onClick={() => openFileDialog(input)}
      />
      <IconButton
        icon="i-ph-image"
        label={t("chat.attach.image")}
        className={className}
        onClick={() => openFileDialog(input, "image/*")}
      />
    </span>
  );
}
