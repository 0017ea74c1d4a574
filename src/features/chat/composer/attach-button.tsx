import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { lazyIdleOverlay } from "#components/overlays/lazy-overlay.tsx";
import type { MenuAnchor } from "#components/overlays/menu.tsx";

const AttachMenu = lazyIdleOverlay(() => import("./attach-menu.tsx"));

type AttachButtonProps = { onFiles: (files: File[]) => void; onCamera: () => void };

/** Button that opens the menu of what can be attached. */
export function AttachButton({ onFiles, onCamera }: AttachButtonProps) {
  const { t } = useTranslation();
  const [anchor, setAnchor] = useState<MenuAnchor>();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton
        icon="i-ph-plus"
        label={t("chat.attach.menu")}
        className="text-muted hover:text-text"
        aria-haspopup="menu"
        aria-expanded={anchor !== undefined}
        onClick={(event) => setAnchor(event.currentTarget.getBoundingClientRect())}
      />
      {anchor && <AttachMenu anchor={anchor} input={input} onCamera={onCamera} onClose={() => setAnchor(undefined)} />}
      <input
        ref={input}
        type="file"
        multiple
        hidden
        data-attach="file"
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = ""; // allows choosing the same file again
        }}
      />
    </>
  );
}
