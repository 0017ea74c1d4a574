import { IconButton } from "../../components/icon-button";
import { MenuButton, type MenuItem } from "../../components/menu";
import { sayNotYet } from "../../components/not-yet";
import { showToast } from "../../components/toast";
import { useT } from "../../i18n/setup";

type ChatButtonsProps = {
  name: string;
  /** Why this person cannot be called; undefined when they can. */
  hindrance: "not_connected" | "contact_blocked" | undefined;
  items: MenuItem[];
};

/** The end of a chat's header: calls and the menu. */
export function ChatButtons({ name, hindrance, items }: ChatButtonsProps) {
  const t = useT();
  const call = () => {
    if (hindrance) showToast({ tone: "danger", title: t("common.error"), message: t(`errors.${hindrance}`) });
    else sayNotYet("common.callsNotYet");
  };
  return (
    <div className="-mr-2 flex shrink-0 sm:mr-0">
      <div className="calls">
        <IconButton icon="i-ph-phone" label={t("people.audioCallName", { name })} onClick={call} />
        <IconButton icon="i-ph-video-camera" label={t("people.videoCallName", { name })} onClick={call} />
      </div>
      <MenuButton label={t("common.more")} items={items} />
    </div>
  );
}
