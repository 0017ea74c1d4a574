import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { Sheet } from "#components/overlays/sheet.tsx";
import { ContactPicker } from "#components/people/contact-picker.tsx";
import { useSelection } from "#components/people/use-selection.ts";
import type { Uuid } from "#contract/ids.ts";
import { exceptionsMax } from "#contract/limits/people.ts";
import type { Exceptions } from "#contract/settings/settings.ts";
import { useContacts } from "#sync/hooks/use-people.ts";
import { useUpdateSettings } from "./use-update-settings.ts";

type ExceptionsSheetProps = {
  name: keyof Exceptions;
  /** Label of the setting. */
  label: string;
  excepted: readonly Uuid[];
  onClose: () => void;
};

/** Sheet to select the contacts to whom a setting does not apply. */
export function ExceptionsSheet({ name, label, excepted, onClose }: ExceptionsSheetProps) {
  const { t } = useTranslation();
  const contacts = useContacts();
  const updateSettings = useUpdateSettings();
  const { chosen, toggle } = useSelection(excepted);
  const selected = new Set(contacts?.flatMap(({ id }) => (chosen.has(id) ? id : [])));

  // Another device may change the list while the sheet is open.
  const [opened] = useState(excepted);

  const save = () => {
    const added = [...selected].filter((id) => !opened.includes(id) && !excepted.includes(id));
    const isRemoved = (id: Uuid) => opened.includes(id) && !chosen.has(id);
    if (added.length > 0 || excepted.some(isRemoved)) {
      // People who are no contacts now, or not yet on this device, stay excepted as long as there is room.
      const kept = excepted.filter((id) => !isRemoved(id));
      const [contactsKept, othersKept] = [
        kept.filter((id) => selected.has(id)),
        kept.filter((id) => !selected.has(id)),
      ];
      const people = [...added, ...contactsKept, ...othersKept].slice(0, exceptionsMax);
      const audience = people.length > 0 ? "contacts_except" : "contacts";
      updateSettings({ ...(name !== "presence" && { [name]: audience }), exceptions: { [name]: people } });
    }
    onClose();
  };
  return (
    <Sheet
      title={t("settings.privacy.except.none")}
      subtitle={t("settings.privacy.except.body", { label })}
      onClose={onClose}
    >
      <ContactPicker
        people={contacts}
        label={t("settings.privacy.except.list")}
        selected={selected}
        onPick={toggle}
        maxSelected={exceptionsMax}
      />
      <div className="shrink-0 border-t border-line bg-surface p-3 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
        <Button className="w-full" onClick={save}>
          {t("settings.privacy.except.save")}
        </Button>
      </div>
    </Sheet>
  );
}
