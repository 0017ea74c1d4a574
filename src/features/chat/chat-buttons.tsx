import { IconButton } from "../../components/icon-button";
import { MenuButton, type MenuItem } from "../../components/menu";
import { useT } from "../../i18n/setup";

type ChatButtonsProps = {
  name: string;
  onCall: () => void;
  items: MenuItem[];
};

/** The end of a chat's header: calls and the menu. */
export function ChatButtons({ name, onCall, items }: ChatButtonsProps) {
  const t = useT();
  return (
    <div className="-mr-2 flex shrink-0 sm:mr-0">
      <div className="calls">
        <IconButton icon="i-ph-phone" label={t("people.audioCallName", { name })} onClick={onCall} />
        <IconButton icon="i-ph-video-camera" label={t("people.videoCallName", { name })} onClick={onCall} />
      </div>
      <MenuButton label={t("common.more")} items={items} />
    </div>
  );
}
