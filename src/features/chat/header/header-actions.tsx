import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { MenuButton, type MenuItem } from "#components/overlays/menu.tsx";

type ChatHeaderActionsProps = {
  callButtons: ReactNode;
  /** Menu entries of the call buttons, in the same order; used for the buttons that do not fit beside the name. */
  callMenuItems: MenuItem[];
  menuItems: MenuItem[];
};

/** Call buttons and the menu at the end of the chat header. */
export function ChatHeaderActions({ callButtons, callMenuItems, menuItems }: ChatHeaderActionsProps) {
  const { t } = useTranslation();
  const buttons = useRef<HTMLDivElement>(null);
  /** Number of visible buttons, counted from the first. */
  const [visibleCount, setVisibleCount] = useState(Number.POSITIVE_INFINITY);
  useEffect(() => {
    const container = buttons.current;
    if (!container) return;
    const isVisible = (button: Element) => button.getClientRects().length > 0;
    const observer = new ResizeObserver(() =>
      setVisibleCount([...container.querySelectorAll(":scope > button")].filter(isVisible).length),
    );
    observer.observe(container);
    return () => observer.disconnect();
  }, []);
  return (
    <div className="-mr-2 flex shrink-0 sm:mr-0">
      <div ref={buttons} className="calls">
        {callButtons}
      </div>
      <MenuButton label={t("common.more")} items={[...callMenuItems.slice(visibleCount), ...menuItems]} />
    </div>
  );
}
