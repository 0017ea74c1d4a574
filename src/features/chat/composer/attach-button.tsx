import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { lazyIdleOverlay } from "#components/overlays/lazy-overlay.tsx";
import type { MenuAnchor } from "#components/overlays/menu.tsx";
import { loadWithIdleTexts } from "#i18n/setup.ts";
import { waitForTakeover } from "#lib/browser/first-view.ts";

const AttachMenu = lazyIdleOverlay(() => import("./attach-menu.tsx"));
const AttachShortcuts = lazyComponent(async () => {
  await waitForTakeover();
  return loadWithIdleTexts(() => import("./attach-shortcuts.tsx"));
});

type AttachButtonProps = { onFiles: (files: File[]) => void; onCamera: () => void };

/** Button that opens the menu of what can be attached, with those for files and images beside it from 640 px on. */
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
      <span className="hidden w-26 shrink-0 sm:block">
        <AttachShortcuts input={input} />
      </span>
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
