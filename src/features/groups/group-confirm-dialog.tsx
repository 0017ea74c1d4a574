import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { ClearHistoryDialog } from "#components/people/person-dialogs.tsx";
import type { GroupCard } from "#contract/groups.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { formatGroupMemberName, type GroupMemberView } from "./members/member-view.ts";

/** Irreversible action on a group that requires a confirmation. */
export type GroupConfirmation =
  | { type: "clear" | "removePicture" | "end" }
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
  const dialogProps = { open: true, cancelLabel: t("common.cancel"), busy: isBusy, onConfirm, onClose };
  switch (confirmation.type) {
    case "clear":
      return <ClearHistoryDialog name={group.name} isGroup busy={isBusy} onConfirm={onConfirm} onClose={onClose} />;
    case "removePicture":
      return (
        <ConfirmDialog
          {...dialogProps}
          title={t("groups.picture.removeTitle")}
          body={t("groups.picture.removeBody")}
          confirmLabel={t("groups.picture.removeConfirm")}
        />
      );
    case "remove": {
      const who = { name: formatGroupMemberName(confirmation.member) };
      return (
        <ConfirmDialog
          {...dialogProps}
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
          {...dialogProps}
          tone="accent"
          title={t("groups.handOver.title", who)}
          body={t("groups.handOver.body", who)}
          confirmLabel={t("groups.handOver.confirm")}
        />
      );
    }
    case "leave": {
      const { successor } = confirmation;
      const defaultBody = t(group.count === 1 ? "groups.leave.bodyLast" : "groups.leave.body");
      return (
        <ConfirmDialog
          {...dialogProps}
          title={t("groups.leave.title", { name })}
          body={successor ? t("groups.leave.bodyHeir", { heir: formatGroupMemberName(successor) }) : defaultBody}
          confirmLabel={t("groups.leave.short")}
        />
      );
    }
    case "end":
      return (
        <ConfirmDialog
          {...dialogProps}
          title={t("groups.end.title", { name })}
          body={t("groups.end.body")}
          confirmLabel={t("groups.end.action")}
        />
      );
  }
}
