import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { Sheet } from "#components/overlays/sheet.tsx";
import { ContactPicker } from "#components/people/contact-picker.tsx";
import { useContacts } from "#sync/hooks/use-people.ts";

/** Contact picker for a new chat. */
export default function NewChatSheet({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  return (
    <Sheet title={t("masolo.newChat")} onClose={onClose}>
      <ContactPicker
        people={useContacts()}
        label={t("masolo.pickContact")}
        onPick={({ id }) => {
          onClose();
          navigate(`/app/chat/${id}`);
        }}
      />
    </Sheet>
  );
}
