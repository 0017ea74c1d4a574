import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import * as v from "valibot";
import { Button } from "#components/controls/button.tsx";
import { TextField } from "#components/controls/text-field.tsx";
import { useNavigateIfStillHere } from "#components/layout/use-navigate-if-still-here.ts";
import { openToast, showToast } from "#components/overlays/toast.tsx";
import { ContactPicker } from "#components/people/contact-picker.tsx";
import { useSelection } from "#components/people/use-selection.ts";
import { GroupName } from "#contract/groups.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { groupNameMaxLength } from "#contract/limits.ts";
import { isBlank } from "#contract/text.ts";
import { showGroupFailure } from "#features/groups/run-group-command.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { useIsOffline } from "#sync/hooks/use-connection.ts";
import { useDraft } from "#sync/hooks/use-draft.ts";
import { useConversation } from "#sync/hooks/use-live-query.ts";
import { createGroupChat, setGroupPicture } from "#sync/people/group-commands.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { GroupPictureField } from "./group-picture-field.tsx";
import { prepareGroupPicture } from "./prepare-group-picture.ts";

/** The group of this id is none of mine any more, or never was: another try needs another one. */
const isGroupIdUsed = (error: unknown): boolean =>
  ["group_exists", "group_not_found"].includes(asSyncError(error).code);

/**
 * A name, a picture if one likes, and who is in it. What is begun is kept on the phone under the id that the group
 * will have: however often it is tried, and from whichever page, one group comes of it.
 */
export function NewGroupForm({ people }: { people: PersonRow[] }) {
  const { t } = useTranslation();
  const leadOn = useNavigateIfStillHere();
  const isOffline = useIsOffline();
  const [id, setId] = useState<Uuid>(() => createUuid());
  const [name, setName] = useState("");
  const { chosen, toggle, chooseAgain } = useSelection();
  const [picture, setPicture] = useState<File>();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<"name" | "members">();
  const isUnderWay = useRef(false);
  const takeBackToast = useRef(() => {});
  const begun = useDraft("group", { files: picture ? [picture] : [], text: name, to: [...chosen], id }, (kept) => {
    setName((before) => (before === "" ? kept.text : before));
    chooseAgain(kept.to);
    setPicture((before) => before ?? kept.files[0]);
    if (kept.id !== undefined) setId(kept.id);
  });
  // Whoever was chosen may be no contact any more.
  const members = people.flatMap((person) => (chosen.has(person.id) ? person.id : []));

  const finish = async (name: string) => {
    showToast({ message: t("groups.create.created", { name: isolateBidi(name) }) });
    try {
      if (picture) await setGroupPicture(id, picture);
    } catch (error) {
      // The group stands all the same.
      showGroupFailure(t("groups.create.pictureFailed"), error);
    }
    await begun.discard();
    leadOn(`/app/group/${id}`, { replace: true });
  };
  // It was made after all, though its answer never came.
  const made = useConversation(id)?.group?.name;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, as soon as it is known and not under way
  useEffect(() => {
    if (made === undefined || isUnderWay.current) return;
    isUnderWay.current = true;
    void finish(made);
  }, [made, isBusy]);

  const choosePicture = async (file: File) => {
    const blob = await prepareGroupPicture(file);
    if (blob) setPicture(new File([blob], "group", { type: blob.type }));
  };
  const solve = (what: typeof problem) => {
    if (problem !== what) return;
    setProblem(undefined);
    takeBackToast.current();
  };
  const pick = (person: { id: Uuid }) => {
    solve("members");
    toggle(person);
  };

  const refuse = (what: "name" | "members", message: string) => {
    setProblem(what);
    takeBackToast.current = openToast({ tone: "danger", title: t("common.error"), message });
  };
  const submit = async () => {
    const parsed = v.safeParse(GroupName, name);
    if (!parsed.success) return refuse("name", nameProblem);
    if (members.length === 0) return refuse("members", t("errors.group_without_members"));
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setBusy(true);
    try {
      await createGroupChat({ id, name: parsed.output, members });
    } catch (error) {
      isUnderWay.current = false;
      setBusy(false);
      if (isGroupIdUsed(error)) setId(createUuid());
      return showGroupFailure(t("groups.create.failed"), error);
    }
    await finish(parsed.output);
  };
  const nameProblem = t(isBlank(name) ? "groups.create.nameMissing" : "errors.invalid_group_name");

  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      <div className="mx-auto flex w-full max-w-160 min-h-[22rem] flex-1 flex-col">
        {/* Its button stands outside: Enter is heard here also while that button cannot be pressed. */}
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
              onChange={({ target }) => {
                setName(target.value);
                solve("name");
              }}
            />
            {picture && !isBusy && (
              <Button variant="quiet" className="!px-3 -ml-3 text-sm" onClick={() => setPicture(undefined)}>
                {t("groups.picture.remove")}
              </Button>
            )}
          </div>
        </form>
        <ContactPicker people={people} label={t("groups.create.contacts")} selected={chosen} onPick={pick} />
      </div>
      <div data-page-end className="sticky bottom-0 shrink-0 border-t border-line bg-surface">
        <div className="mx-auto w-full max-w-160 p-3 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
          <p role="status" className={problem === "members" ? "sr-only" : "mb-2 px-1 text-sm text-muted"}>
            {t("groups.create.selected", { count: members.length })}
          </p>
          {problem === "members" && (
            <p className="mb-2 px-1 text-sm text-danger">{t("errors.group_without_members")}</p>
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
