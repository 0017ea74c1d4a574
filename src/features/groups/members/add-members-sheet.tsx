import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { Sheet } from "#components/overlays/sheet.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { ContactPicker } from "#components/people/contact-picker.tsx";
import { useSelection } from "#components/people/use-selection.ts";
import type { Uuid } from "#contract/ids.ts";
import { groupMembersMax } from "#contract/limits/groups.ts";
import { showGroupFailure } from "#features/groups/run-group-command.ts";
import { addGroupMembers } from "#sync/actions/groups.ts";
import { useLiveQuery } from "#sync/hooks/use-live-query.ts";
import { useContacts } from "#sync/hooks/use-people.ts";
import { listGroupPeople } from "#sync/queries/group-people.ts";
import { InvitedPeople } from "./invited-people.tsx";
import { toInvitedTexts } from "./invited-texts.ts";
import type { GroupCandidatesView } from "./use-group-candidates.ts";

type AddMembersSheetProps = {
  group: Uuid;
  count: number;
  candidates: GroupCandidatesView;
  isMember: (person: Uuid) => boolean;
  onClose: () => void;
};

const nobody: NonNullable<GroupCandidatesView["invited"]> = [];

/**
 * People outside the group: contacts and former members, on demand also members of other groups. Invited people are not
 * offered again; while they are unknown, the server does not invite them twice.
 */
const useOfferedPeople = ({ invited = nobody, former }: GroupCandidatesView, isMember: (person: Uuid) => boolean) => {
  const contacts = useContacts();
  const groupPeople = useLiveQuery("group people", ({ store, me }) => listGroupPeople(store, me)); // of all groups
  const [hasGroupPeople, setHasGroupPeople] = useState(false);
  const known = useMemo(() => {
    if (!contacts) return undefined;
    const isHidden = new Set(invited.map(({ profile }) => profile.id));
    for (const { id, blocked } of contacts) if (blocked === 1) isHidden.add(id);
    const toOffered = <Person extends { id: Uuid }>(people: readonly Person[]): Map<Uuid, Person> =>
      new Map(
        people.flatMap((person) => (isMember(person.id) || isHidden.has(person.id) ? [] : [[person.id, person]])),
      );
    const formerPeople = former.map(({ id, username, phone, avatar_url: avatar }) => ({ id, username, phone, avatar }));
    const near = toOffered([...formerPeople, ...contacts]);
    const others = (groupPeople ?? []).map((person) => ({ ...person, avatar: null }));
    const far = [...toOffered(others).values()].filter(({ id }) => !near.has(id));
    return { near: [...near.values()], far };
  }, [contacts, groupPeople, former, invited, isMember]);
  const people = useMemo(() => known && [...(hasGroupPeople ? known.far : []), ...known.near], [known, hasGroupPeople]);
  const isContact = useMemo(() => new Set(contacts?.map(({ id }) => id)), [contacts]);
  return {
    people,
    /** The person is a contact who did not leave the group, whom most settings let an owner add. */
    isAddable: (person: Uuid) => isContact.has(person) && !former.some(({ id }) => id === person),
    hasGroupPeople,
    showGroupPeople: known && known.far.length > 0 && !hasGroupPeople ? () => setHasGroupPeople(true) : undefined,
  };
};

/** Sheet to select people outside the group and add or invite them in one request. */
export default function AddMembersSheet({ group, count, candidates, isMember, onClose }: AddMembersSheetProps) {
  const { t } = useTranslation();
  const { people, isAddable, hasGroupPeople, showGroupPeople } = useOfferedPeople(candidates, isMember);
  const { chosen, toggle } = useSelection();
  const [isBusy, setBusy] = useState(false);
  const selected = people?.filter(({ id }) => chosen.has(id)) ?? [];

  /** People who were added, and those who got an invitation instead; nothing about the reason. */
  const toDoneText = (invitedIds: readonly Uuid[]): string => {
    const added = selected.length - invitedIds.length;
    const texts = added > 0 ? [t("groups.add.done", { count: added })] : [];
    return [...texts, ...toInvitedTexts(selected, invitedIds, t)].join("\n");
  };
  const add = async () => {
    setBusy(true);
    try {
      const invitedIds = await addGroupMembers(
        group,
        selected.map(({ id }) => id),
      );
      showToast({ message: toDoneText(invitedIds) });
      if (invitedIds.length > 0) candidates.refetch();
      onClose();
    } catch (error) {
      showGroupFailure(t("groups.add.failed"), error);
      setBusy(false);
    }
  };
  const submitText = selected.every(({ id }) => isAddable(id)) ? "groups.add.submit" : "groups.add.submitOrInvite";
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
      <InvitedPeople group={group} invited={candidates.invited ?? nobody} onWithdrawn={candidates.refetch} />
      {isFull || hasNoCandidates ? (
        <div className="min-h-0 flex-1 overflow-y-auto">
          <EmptyState
            icon="i-ph-users-three"
            title={t(isFull ? "errors.group_full" : "groups.add.noneTitle")}
            {...(isFull ? {} : { body: t("groups.add.noneBody") })}
          />
        </div>
      ) : (
        <ContactPicker people={people} label={t("groups.create.contacts")} selected={chosen} onPick={toggle} />
      )}
      {!isFull && (
        <div className="flex shrink-0 flex-col gap-1 border-t border-line bg-surface p-3 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
          {showGroupPeople && (
            <Button variant="quiet" className="w-full" onClick={showGroupPeople}>
              {t("groups.invited.groupPeople")}
            </Button>
          )}
          {hasGroupPeople && (
            // In place of the pressed button, whose focus it takes.
            <p
              ref={focusOnMount}
              role="status"
              tabIndex={-1}
              className="px-3 py-1 text-center text-sm text-muted focus-visible:outline-none"
            >
              {t("groups.invited.groupPeopleShown")}
            </p>
          )}
          {!hasNoCandidates && (
            <Button
              className="w-full"
              busy={isBusy}
              disabled={selected.length === 0 && !isBusy}
              onClick={() => void add()}
            >
              {selected.length === 0 ? t("groups.add.action") : t(submitText, { count: selected.length })}
            </Button>
          )}
        </div>
      )}
    </Sheet>
  );
}
