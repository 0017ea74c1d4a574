import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { MenuButton, type MenuItem } from "#components/overlays/menu.tsx";

type ChatHeaderActionsProps = {
  callButtons: ReactNode;
  /** The same in the menu, in their order: those whose buttons have no room beside the name stand there. */
  callMenuItems: MenuItem[];
  menuItems: MenuItem[];
};

/** The end of a chat's header: calls and the menu. */
export function ChatHeaderActions({ callButtons, callMenuItems, menuItems }: ChatHeaderActionsProps) {
  const { t } = useTranslation();
  const buttons = useRef<HTMLDivElement>(null);
  /** How many of the buttons show, which are the first of them. */
  const [shown, setShown] = useState(Number.POSITIVE_INFINITY);
  useEffect(() => {
    const box = buttons.current;
    if (!box) return;
    const isShown = (button: Element) => button.getClientRects().length > 0;
    const observer = new ResizeObserver(() =>
      setShown([...box.querySelectorAll(":scope > button")].filter(isShown).length),
    );
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  return (
    <div className="-mr-2 flex shrink-0 sm:mr-0">
      <div ref={buttons} className="calls">
        {callButtons}
      </div>
      <MenuButton label={t("common.more")} items={[...callMenuItems.slice(shown), ...menuItems]} />
    </div>
  );
}
