import { useNavigate } from "react-router";
import { MenuButton } from "../../components/menu";
import { Screen } from "../../components/screen";
import { showToast } from "../../components/toast";
import { useT } from "../../i18n/setup";
import { ConversationList } from "./conversation-list";

export default function MasoloScreen() {
  const t = useT();
  const navigate = useNavigate();
  const notYet = () => showToast({ title: t("masolo.notAvailableTitle"), message: t("masolo.notAvailable") });
  return (
    <Screen
      title={t("masolo.title")}
      description={t("masolo.description")}
      scrolls={false}
      actions={
        <MenuButton
          label={t("masolo.actions")}
          icon="i-ph-note-pencil"
          items={[
            {
              id: "chat",
              label: t("masolo.newChat"),
              icon: "i-ph-chat-circle-dots",
              onSelect: () => navigate("/app/contacts"),
            },
            { id: "group", label: t("masolo.newGroup"), icon: "i-ph-users-three", onSelect: notYet },
            { id: "broadcast", label: t("masolo.broadcast"), icon: "i-ph-megaphone", onSelect: notYet },
          ]}
        />
      }
    >
      <ConversationList />
    </Screen>
  );
}
