import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { ClearDialog } from "#components/people/person-dialogs.tsx";
import type { GroupCard } from "#contract/groups.ts";
import { isolate } from "#lib/text/bidi.ts";
import { nameOfMember, type ShownMember } from "./members/member-view.ts";

/** What is asked before it is done, because it cannot be taken back. */
export type Question =
  | { type: "clear" | "unpicture" | "end" }
  | { type: "leave"; heir?: ShownMember }
  | { type: "remove" | "handOver"; member: ShownMember };

type GroupQuestionProps = {
  question: Question;
  group: GroupCard;
  isBusy: boolean;
  onConfirm: () => void;
  onClose: () => void;
};

export function GroupQuestion({ question, group, isBusy, onConfirm, onClose }: GroupQuestionProps) {
  const { t } = useTranslation();
  const name = isolate(group.name);
  const asked = { open: true, cancelLabel: t("common.cancel"), busy: isBusy, onConfirm, onClose };
  switch (question.type) {
    case "clear":
      return <ClearDialog name={group.name} isGroup busy={isBusy} onConfirm={onConfirm} onClose={onClose} />;
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
      const who = { name: nameOfMember(question.member) };
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
      const who = { name: nameOfMember(question.member) };
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
      const { heir } = question;
      const alone = t(group.count === 1 ? "groups.leave.bodyLast" : "groups.leave.body");
      return (
        <ConfirmDialog
          {...asked}
          title={t("groups.leave.title", { name })}
          body={heir ? t("groups.leave.bodyHeir", { heir: nameOfMember(heir) }) : alone}
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
