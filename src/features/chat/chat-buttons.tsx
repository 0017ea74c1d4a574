import type { ReactNode } from "react";
import { MenuButton, type MenuItem } from "../../components/menu";
import { useT } from "../../i18n/setup";

type ChatButtonsProps = { calls: ReactNode; items: MenuItem[] };

/** The end of a chat's header: calls and the menu. */
export function ChatButtons({ calls, items }: ChatButtonsProps) {
  const t = useT();
  return (
    <div className="-mr-2 flex shrink-0 sm:mr-0">
      <div className="calls">{calls}</div>
      <MenuButton label={t("common.more")} items={items} />
    </div>
  );
}
