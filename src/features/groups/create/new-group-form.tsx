import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import * as v from "valibot";
import { Button } from "#components/controls/button.tsx";
import { TextField } from "#components/controls/text-field.tsx";
import { useNavigateIfStillHere } from "#components/layout/use-navigate-if-still-here.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { ContactPicker } from "#components/people/contact-picker.tsx";
import { useSelection } from "#components/people/use-selection.ts";
import { GroupName } from "#contract/groups.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { groupNameMaxLength } from "#contract/limits/groups.ts";
import { isBlank } from "#contract/text.ts";
import { toInvitedTexts } from "#features/groups/members/invited-texts.ts";
import { showGroupFailure } from "#features/groups/run-group-command.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { changeGroupPicture, createGroupChat } from "#sync/actions/groups.ts";
import { useIsOffline } from "#sync/hooks/use-connection.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import { useDraft } from "#sync/hooks/use-draft.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { GroupPictureField } from "./group-picture-field.tsx";
import { prepareGroupPicture } from "./prepare-group-picture.ts";

/** True if the group id belongs to a group of others, or one the user left: a retry needs a new id. */
const isGroupIdUsed = (error: unknown): boolean =>
  ["group_exists", "group_not_found"].includes(asSyncError(error).code);

/**
 * Form for a new group: name, optional picture and members. The draft is stored with the id of the future group, so
 * retries, also after a reload, create one group only.
 */
export function NewGroupForm({ people }: { people: PersonRow[] }) {
  const { t } = useTranslation();
  const navigateIfStillHere = useNavigateIfStillHere();
  const isOffline = useIsOffline();
  const [id, setId] = useState<Uuid>(() => createUuid());
  const [name, setName] = useState("");
  const { chosen, toggle, addToSelection } = useSelection();
  const [picture, setPicture] = useState<File>();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<"name" | "members">();
  const isRunning = useRef(false);
  const draft = useDraft("group", { files: picture ? [picture] : [], text: name, to: [...chosen], id }, (saved) => {
    setName((before) => (before === "" ? saved.text : before));
    addToSelection(saved.to);
    setPicture((before) => before ?? saved.files[0]);
    if (saved.id !== undefined) setId(saved.id);
  });
  // A selected person may no longer be a contact.
  const members = people.flatMap((person) => (chosen.has(person.id) ? person.id : []));

  const finish = async (name: string, invited: readonly Uuid[] = []) => {
    const created = t("groups.create.created", { name: isolateBidi(name) });
    const message = [created, ...toInvitedTexts(people, invited, t)].join("\n");
    showToast({ message, isShownByScreen: invited.length === 0 });
    try {
      if (picture) await changeGroupPicture(id, picture);
    } catch (error) {
      // The group exists without its picture.
      showGroupFailure(t("groups.create.pictureFailed"), error);
    }
    await draft.discard();
    navigateIfStillHere(`/app/group/${id}`, { replace: true });
  };
  // The group may have been created although the response was lost.
  const createdName = useConversation(id)?.group?.name;
  const finishCreated = useEffectEvent((name: string) => void finish(name));
  useEffect(() => {
    if (createdName === undefined || isBusy || isRunning.current) return;
    isRunning.current = true;
    finishCreated(createdName);
  }, [createdName, isBusy]);

  const choosePicture = async (file: File) => {
    const blob = await prepareGroupPicture(file);
    if (blob) setPicture(new File([blob], "group", { type: blob.type }));
  };
  const clearProblem = (field: typeof problem) => {
    if (problem === field) setProblem(undefined);
  };
  const toggleMember = (person: { id: Uuid }) => {
    clearProblem("members");
    toggle(person);
  };

  const submit = async () => {
    const parsed = v.safeParse(GroupName, name);
    if (!parsed.success) return setProblem("name");
    if (members.length === 0) return setProblem("members");
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    let invited: readonly Uuid[];
    try {
      invited = await createGroupChat({ id, name: parsed.output, members });
    } catch (error) {
      isRunning.current = false;
      setBusy(false);
      if (isGroupIdUsed(error)) setId(createUuid());
      return showGroupFailure(t("groups.create.failed"), error);
    }
    await finish(parsed.output, invited);
  };
  const nameProblem = t(isBlank(name) ? "groups.create.nameMissing" : "errors.invalid_group_name");

  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      <div className="mx-auto flex w-full max-w-160 min-h-[22rem] flex-1 flex-col">
        {/* The submit button is outside the form: Enter submits even while that button is disabled. */}
        <form
          className="flex shrink-0 items-start gap-4 p-4"
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          <GroupPictureField picture={picture} isBusy={isBusy} onChoose={(file) => void choosePicture(file)} />
          <div className="min-w-0 flex-1">
            <TextField
              id="groupName"
              label={t("groups.create.name")}
              maxLength={groupNameMaxLength}
              autoComplete="off"
              enterKeyHint="done"
              dir="auto"
              readOnly={isBusy}
              value={name}
              error={problem === "name" ? nameProblem : undefined}
              focusOnError
              onChange={({ target }) => {
                setName(target.value);
                clearProblem("name");
              }}
            />
            {picture && !isBusy && (
              <Button variant="quiet" className="!px-3 -ml-3 text-sm" onClick={() => setPicture(undefined)}>
                {t("groups.picture.remove")}
              </Button>
            )}
          </div>
        </form>
        <ContactPicker people={people} label={t("groups.create.contacts")} selected={chosen} onPick={toggleMember} />
      </div>
      <div data-page-end className="sticky bottom-0 shrink-0 border-t border-line bg-surface">
        <div className="mx-auto w-full max-w-160 p-3 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
          <p role="status" className={problem === "members" ? "sr-only" : "mb-2 px-1 text-sm text-muted"}>
            {t("groups.create.selected", { count: members.length })}
          </p>
          {problem === "members" && (
            <p role="alert" className="mb-2 px-1 text-sm text-danger">
              {t("errors.group_without_members")}
            </p>
          )}
          {isOffline && <p className="mb-2 px-1 text-sm">{t("groups.create.offline")}</p>}
          <Button
            className="w-full"
            busy={isBusy}
            busyLabel={t("groups.create.busy")}
            disabled={isBlank(name) || members.length === 0}
            onClick={() => void submit()}
          >
            {t("groups.create.submit")}
          </Button>
        </div>
      </div>
    </div>
  );
}
