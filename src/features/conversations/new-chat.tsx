import { useNavigate } from "react-router";
import { ContactPicker } from "../../components/contact-picker";
import { Sheet } from "../../components/sheet";
import { useT } from "../../i18n/setup";
import { useContacts } from "../../sync/hooks";

/** Whom to write to. */
export default function NewChat({ onClose }: { onClose: () => void }) {
  const t = useT();
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
