import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Exceptions } from "#contract/settings/settings.ts";
import { useContacts } from "#sync/hooks/use-people.ts";
import { useSettings } from "#sync/hooks/use-settings.ts";
import { ExceptionsSheet } from "./exceptions-sheet.tsx";

type ExceptionsRowProps = {
  name: keyof Exceptions;
  /** Label of the setting. */
  label: string;
};

/** Row below a setting that is for contacts: how many are excepted from it. Opens the list of contacts. */
export function ExceptionsRow({ name, label }: ExceptionsRowProps) {
  const { t } = useTranslation();
  const excepted = useSettings().exceptions[name] ?? [];
  const contacts = useContacts();
  const [isOpen, setOpen] = useState(false);
  // Former contacts stay in the list, in case they become contacts again, but the setting is not about them.
  const count = contacts?.filter(({ id }) => excepted.includes(id)).length ?? excepted.length;
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        className="flex min-h-12 w-full items-center gap-3 px-4 text-start -outline-offset-3 hover:bg-raised"
        onClick={() => setOpen(true)}
      >
        <span className="flex-1">
          <span className="sr-only">{label} </span>
          {count === 0 ? t("settings.privacy.except.none") : t("settings.privacy.except.some", { count })}
        </span>
        <span className="i-ph-caret-right text-muted" aria-hidden="true" />
      </button>
      {isOpen && <ExceptionsSheet name={name} label={label} excepted={excepted} onClose={() => setOpen(false)} />}
    </>
  );
}
