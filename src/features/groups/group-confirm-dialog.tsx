import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { ClearHistoryDialog } from "#components/people/person-dialogs.tsx";
import type { GroupCard } from "#contract/groups.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { formatGroupMemberName, type GroupMemberView } from "./members/member-view.ts";

/** What is asked before it is done, because it cannot be taken back. */
export type GroupConfirmation =
  | { type: "clear" | "unpicture" | "end" }
  | { type: "leave"; successor?: GroupMemberView }
  | { type: "remove" | "handOver"; member: GroupMemberView };

type GroupConfirmDialogProps = {
  confirmation: GroupConfirmation;
  group: GroupCard;
  isBusy: boolean;
  onConfirm: () => void;
  onClose: () => void;
};

export function GroupConfirmDialog({ confirmation, group, isBusy, onConfirm, onClose }: GroupConfirmDialogProps) {
  const { t } = useTranslation();
  const name = isolateBidi(group.name);
  const asked = { open: true, cancelLabel: t("common.cancel"), busy: isBusy, onConfirm, onClose };
  switch (confirmation.type) {
    case "clear":
      return <ClearHistoryDialog name={group.name} isGroup busy={isBusy} onConfirm={onConfirm} onClose={onClose} />;
    case "unpicture":
      return (
        <ConfirmDialog
          {...asked}
          title={t("groups.picture.removeTitle")}
          body={t("groups.picture.removeBody")}
          confirmLabel={t("groups.picture.removeConfirm")}
        />
      );
    case "remove": {
      const who = { name: formatGroupMemberName(confirmation.member) };
      return (
        <ConfirmDialog
          {...asked}
          title={t("groups.remove.title", who)}
          body={t("groups.remove.body", who)}
          confirmLabel={t("groups.remove.confirm")}
        />
      );
    }
    case "handOver": {
      const who = { name: formatGroupMemberName(confirmation.member) };
      return (
        <ConfirmDialog
          {...asked}
          tone="accent"
          title={t("groups.handOver.title", who)}
          body={t("groups.handOver.body", who)}
          confirmLabel={t("groups.handOver.confirm")}
        />
      );
    }
    case "leave": {
      const { successor } = confirmation;
      const alone = t(group.count === 1 ? "groups.leave.bodyLast" : "groups.leave.body");
      return (
        <ConfirmDialog
          {...asked}
          title={t("groups.leave.title", { name })}
          body={successor ? t("groups.leave.bodyHeir", { heir: formatGroupMemberName(successor) }) : alone}
          confirmLabel={t("groups.leave.short")}
        />
      );
    }
    case "end":
      return (
        <ConfirmDialog
          {...asked}
          title={t("groups.end.title", { name })}
          body={t("groups.end.body")}
          confirmLabel={t("groups.end.action")}
        />
      );
  }
}
