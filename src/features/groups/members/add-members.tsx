import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { Sheet } from "#components/overlays/sheet.tsx";
import { ContactPicker } from "#components/people/contact-picker.tsx";
import { useChosen } from "#components/people/use-selection.ts";
import type { Uuid } from "#contract/ids.ts";
import { groupMembersMax } from "#contract/limits.ts";
import { carryOut } from "#features/groups/run-with-toast.ts";
import { useContacts } from "#sync/hooks/use-live-query.ts";
import { addMembers } from "#sync/people/group-commands.ts";

type AddMembersProps = { group: Uuid; count: number; isIn: (person: Uuid) => boolean; onClose: () => void };

/** Contacts who are not in the group yet, to be added all at once. */
export default function AddMembers({ group, count, isIn, onClose }: AddMembersProps) {
  const { t } = useTranslation();
  const contacts = useContacts();
  const { chosen, toggle } = useChosen();
  const [isBusy, setBusy] = useState(false);
  const people = useMemo(() => contacts?.filter(({ id, blocked }) => blocked === 0 && !isIn(id)), [contacts, isIn]);
  const added = people?.flatMap(({ id }) => (chosen.has(id) ? id : [])) ?? [];

  const add = async () => {
    setBusy(true);
    const isDone = await carryOut(() => addMembers(group, added), {
      done: t("groups.add.done", { count: added.length }),
      failed: t("groups.add.failed"),
    });
    setBusy(false);
    if (isDone) onClose();
  };
  const isFull = count >= groupMembersMax;
  const isNobodyLeft = people?.length === 0 && !isBusy;
  return (
    <Sheet
      title={t("groups.add.title")}
      subtitle={t("groups.add.body")}
      onClose={() => {
        if (!isBusy) onClose();
      }}
    >
      {isFull || isNobodyLeft ? (
        <EmptyState
          icon="i-ph-users-three"
          title={t(isFull ? "errors.group_full" : "groups.add.noneTitle")}
          {...(isFull ? {} : { body: t(contacts?.length === 0 ? "contacts.none.body" : "groups.add.noneBody") })}
        />
      ) : (
        <>
          <ContactPicker people={people} label={t("groups.create.contacts")} selected={chosen} onPick={toggle} />
          <div className="shrink-0 border-t border-line bg-surface p-3 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
            <Button
              className="w-full"
              busy={isBusy}
              disabled={added.length === 0 && !isBusy}
              onClick={() => void add()}
            >
              {added.length === 0 ? t("groups.add.action") : t("groups.add.submit", { count: added.length })}
            </Button>
          </div>
        </>
      )}
    </Sheet>
  );
}
