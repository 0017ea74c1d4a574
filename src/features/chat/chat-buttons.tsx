import { type ReactNode, useEffect, useRef, useState } from "react";
import { MenuButton, type MenuItem } from "../../components/menu";
import { useT } from "../../i18n/setup";

type ChatButtonsProps = {
  calls: ReactNode;
  /** The same in the menu, where text is so large that the buttons have no room. */
  callItems: MenuItem[];
  items: MenuItem[];
};

/** The end of a chat's header: calls and the menu. */
export function ChatButtons({ calls, callItems, items }: ChatButtonsProps) {
  const t = useT();
  const buttons = useRef<HTMLDivElement>(null);
  const [haveRoom, setHaveRoom] = useState(true);
  useEffect(() => {
    const box = buttons.current;
    if (!box) return;
    const observer = new ResizeObserver(() => setHaveRoom(box.getClientRects().length > 0));
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  return (
    <div className="-mr-2 flex shrink-0 sm:mr-0">
      <div ref={buttons} className="calls">
        {calls}
      </div>
      <MenuButton label={t("common.more")} items={haveRoom ? items : [...callItems, ...items]} />
    </div>
  );
}
