import { Fragment, type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import type { MenuAnchor, MenuItem } from "#components/overlays/menu.tsx";
import type { HeaderMenuProps } from "./chat-menus.tsx";

/** Menu of a chat. Its code is loaded when it is first opened. */
export type RenderHeaderMenu = (props: HeaderMenuProps) => ReactNode;

type ChatHeaderActionsProps = {
  callButtons: ReactNode;
  /** Menu entries of the call buttons, in the same order; used for the buttons that do not fit beside the name. */
  callMenuItems: MenuItem[];
  renderMenu: RenderHeaderMenu;
  onSearch: () => void;
  onShowMessage: (seq: number) => void;
};

/** Call buttons and the menu at the end of the chat header. */
export function ChatHeaderActions({ callButtons, callMenuItems, renderMenu, ...actions }: ChatHeaderActionsProps) {
  const { t } = useTranslation();
  const buttons = useRef<HTMLDivElement>(null);
  /** Number of visible buttons, counted from the first. */
  const [visibleCount, setVisibleCount] = useState(Number.POSITIVE_INFINITY);
  /** The menu that was opened last; it shows the dialogs of its entries. */
  const [menu, setMenu] = useState<{ anchor: MenuAnchor; isOpen: boolean; key: number }>();
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
      <IconButton
        icon="i-ph-dots-three-vertical-bold"
        label={t("common.more")}
        aria-haspopup="menu"
        aria-expanded={menu?.isOpen ?? false}
        onClick={({ currentTarget, timeStamp }) =>
          setMenu({ anchor: currentTarget.getBoundingClientRect(), isOpen: true, key: timeStamp })
        }
      />
      {menu && (
        <Fragment key={menu.key}>
          {renderMenu({
            ...menu,
            callItems: callMenuItems.slice(visibleCount),
            ...actions,
            onClose: () => setMenu({ ...menu, isOpen: false }),
          })}
        </Fragment>
      )}
    </div>
  );
}
