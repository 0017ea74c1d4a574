import { IconButton } from "../../components/icon-button";
import { MenuButton, type MenuItem } from "../../components/menu";
import { useT } from "../../i18n/setup";

export type Call = { icon: string; label: string };

type ChatButtonsProps = {
  calls: Call[];
  onCall: () => void;
  items: MenuItem[];
};

/** The end of a chat's header: calls and the menu. */
export function ChatButtons({ calls, onCall, items }: ChatButtonsProps) {
  const t = useT();
  return (
    <div className="-mr-2 flex shrink-0 sm:mr-0">
      <div className="calls">
        {calls.map((call) => (
          <IconButton key={call.icon} {...call} onClick={onCall} />
        ))}
      </div>
      <MenuButton label={t("common.more")} items={items} />
    </div>
  );
}
