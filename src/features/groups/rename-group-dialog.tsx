import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import * as v from "valibot";
import { Button } from "#components/controls/button.tsx";
import { TextField } from "#components/controls/text-field.tsx";
import { dialogCardClasses, Modal } from "#components/overlays/modal.tsx";
import { GroupName } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { groupNameMaxLength } from "#contract/limits/groups.ts";
import { isBlank } from "#contract/text.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { changeGroupName } from "#sync/actions/groups.ts";
import { runGroupCommand } from "./run-group-command.ts";

type RenameGroupDialogProps = { group: Uuid; name: string; onClose: () => void };

/** Dialog to rename a group. Input is kept after a failure. */
export default function RenameGroupDialog({ group, name, onClose }: RenameGroupDialogProps) {
  const { t } = useTranslation();
  const id = useId();
  const [typed, setTyped] = useState(name);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  const save = async () => {
    const parsed = v.safeParse(GroupName, typed);
    if (!parsed.success) {
      return setProblem(t(isBlank(typed) ? "groups.create.nameMissing" : "errors.invalid_group_name"));
    }
    if (parsed.output === name) return onClose();
    setBusy(true);
    const isDone = await runGroupCommand(() => changeGroupName(group, parsed.output), {
      announced: t("groups.rename.done", { name: isolateBidi(parsed.output) }),
      failed: t("groups.rename.failed"),
    });
    setBusy(false);
    if (isDone) onClose();
  };
  return (
    <Modal labelledBy={`${id}-title`} className={dialogCardClasses} onDismiss={() => !isBusy && onClose()}>
      <form
        className="p-6"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void save();
        }}
      >
        <h2 id={`${id}-title`} className="mb-4 text-xl font-bold break-words text-balance">
          {t("groups.rename.action")}
        </h2>
        <TextField
          id="newGroupName"
          label={t("groups.create.name")}
          maxLength={groupNameMaxLength}
          autoComplete="off"
          enterKeyHint="done"
          dir="auto"
          data-autofocus
          readOnly={isBusy}
          value={typed}
          error={problem}
          focusOnError
          onChange={({ target }) => {
            setTyped(target.value);
            setProblem(undefined);
          }}
        />
        <div className="mt-6 flex flex-wrap justify-end gap-3">
          <Button variant="secondary" disabled={isBusy} className="grow" onClick={onClose}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" busy={isBusy} className="grow">
            {t("groups.rename.submit")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
