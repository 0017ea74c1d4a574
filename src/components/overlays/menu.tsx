import { type ReactNode, useState } from "react";
import { IconButton } from "#components/controls/icon-button.tsx";
import { lazyIdleOverlay } from "./lazy-overlay.tsx";
import type { MenuAnchor, MenuItem } from "./menu-popup.tsx";

export type { MenuAnchor, MenuItem };

const MenuPopup = lazyIdleOverlay(() => import("./menu-popup.tsx"));

/** Button that opens a menu; its default icon is three dots. */
export function MenuButton({
  label,
  items,
  icon = "i-ph-dots-three-vertical-bold",
  className,
}: {
  label: string;
  items: MenuItem[];
  icon?: string;
  className?: string;
}): ReactNode {
  const [anchor, setAnchor] = useState<MenuAnchor>();
  return (
    <>
      <IconButton
        icon={icon}
        label={label}
        className={className ?? ""}
        aria-haspopup="menu"
        aria-expanded={anchor !== undefined}
        onClick={(event) => setAnchor(event.currentTarget.getBoundingClientRect())}
      />
      {anchor && <MenuPopup label={label} items={items} anchor={anchor} onClose={() => setAnchor(undefined)} />}
    </>
  );
}
