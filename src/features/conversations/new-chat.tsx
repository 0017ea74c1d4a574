import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { ContactPicker } from "../../components/contact-picker";
import { Sheet } from "../../components/sheet";
import { useContacts } from "../../sync/hooks";

/** Whom to write to. */
export default function NewChat({ onClose }: { onClose: () => void }) {
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
