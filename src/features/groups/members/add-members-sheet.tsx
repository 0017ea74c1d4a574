import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { Sheet } from "#components/overlays/sheet.tsx";
import { ContactPicker } from "#components/people/contact-picker.tsx";
import { useSelection } from "#components/people/use-selection.ts";
import type { Uuid } from "#contract/ids.ts";
import { groupMembersMax } from "#contract/limits.ts";
import { runGroupCommand } from "#features/groups/run-group-command.ts";
import { useContacts } from "#sync/hooks/use-people.ts";
import { addGroupMembers } from "#sync/people/group-commands.ts";

type AddMembersSheetProps = { group: Uuid; count: number; isMember: (person: Uuid) => boolean; onClose: () => void };

/** Sheet to select contacts outside the group and add them in one request. */
export default function AddMembersSheet({ group, count, isMember, onClose }: AddMembersSheetProps) {
  const { t } = useTranslation();
  const contacts = useContacts();
  const { chosen, toggle } = useSelection();
  const [isBusy, setBusy] = useState(false);
  const people = useMemo(
    () => contacts?.filter(({ id, blocked }) => blocked === 0 && !isMember(id)),
    [contacts, isMember],
  );
  const selectedIds = people?.flatMap(({ id }) => (chosen.has(id) ? id : [])) ?? [];

  const add = async () => {
    setBusy(true);
    const isDone = await runGroupCommand(() => addGroupMembers(group, selectedIds), {
      done: t("groups.add.done", { count: selectedIds.length }),
      failed: t("groups.add.failed"),
    });
    setBusy(false);
    if (isDone) onClose();
  };
  const isFull = count >= groupMembersMax;
  const hasNoCandidates = people?.length === 0 && !isBusy;
  return (
    <Sheet
      title={t("groups.add.title")}
      subtitle={t("groups.add.body")}
      onClose={() => {
        if (!isBusy) onClose();
      }}
    >
      {isFull || hasNoCandidates ? (
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
              disabled={selectedIds.length === 0 && !isBusy}
              onClick={() => void add()}
            >
              {selectedIds.length === 0
                ? t("groups.add.action")
                : t("groups.add.submit", { count: selectedIds.length })}
            </Button>
          </div>
        </>
      )}
    </Sheet>
  );
}
