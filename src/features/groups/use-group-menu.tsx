import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { restoreLostFocus } from "#components/focus/title-focus.ts";
import { useNavigateIfStillHere } from "#components/layout/use-navigate-if-still-here.ts";
import { lazyOverlay } from "#components/overlays/lazy-overlay.tsx";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { MuteDialog } from "#components/people/lazy-dialogs.ts";
import { toUnmuteLabel } from "#components/people/mute-texts.ts";
import { type GroupCard, isGroupActionAllowed } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { clearConversation, muteConversation } from "#sync/actions/conversations.ts";
import {
  changeGroupPicture,
  deleteGroupForEveryone,
  leaveGroup,
  removeGroupMember,
  transferGroupOwnership,
} from "#sync/actions/groups.ts";
import { prepareGroupPicture } from "./create/prepare-group-picture.ts";
import { type GroupConfirmation, GroupConfirmDialog } from "./group-confirm-dialog.tsx";
import { formatGroupMemberName, type GroupMemberView } from "./members/member-view.ts";
import type { GroupCandidatesView } from "./members/use-group-candidates.ts";
import { runGroupCommand } from "./run-group-command.ts";

const AddMembersSheet = lazyOverlay(() => import("./members/add-members-sheet.tsx"));
const RenameGroupDialog = lazyOverlay(() => import("./rename-group-dialog.tsx"));
const SuccessorSheet = lazyOverlay(() => import("./members/successor-sheet.tsx"));

/** Overlay over the page: a confirmation, or a sheet or dialog to fill in. */
type GroupOverlay = GroupConfirmation | { type: "add" } | { type: "rename" } | { type: "successor" } | { type: "mute" };

const isConfirmation = (overlay: GroupOverlay | undefined): overlay is GroupConfirmation =>
  overlay !== undefined && !["add", "rename", "successor", "mute"].includes(overlay.type);

type GroupMenuOptions = {
  id: Uuid;
  group: GroupCard;
  mute: { muted: boolean; mutedUntil: number | null; mutedExceptMentions: boolean };
  members: GroupMemberView[] | undefined;
  candidates: GroupCandidatesView;
  /** Called with true before the user leaves or deletes the group, and with false if that failed. */
  onLeaving: (isLeaving: boolean) => void;
};

type GroupMenuTask = "confirmation" | "mute" | "picture";

export type GroupMenu = {
  openOverlay: (overlay: GroupOverlay) => void;
  confirmLeave: () => void;
  toggleMute: () => void;
  isMuting: boolean;
  setPicture: (file: File) => void;
  isSettingPicture: boolean;
  /** Items of the group's menu. */
  menuItems: MenuItem[];
  /** Items of a member's menu. */
  getMemberMenuItems: (member: GroupMemberView) => MenuItem[];
  overlay: ReactNode;
};

/** Actions the current user may perform on a group and its members, with their confirmations. */
export const useGroupMenu = ({ id, group, mute, members, candidates, onLeaving }: GroupMenuOptions): GroupMenu => {
  const { t } = useTranslation();
  const navigateIfStillHere = useNavigateIfStillHere();
  const [overlay, openOverlay] = useState<GroupOverlay>();
  // Busy state per task: a picture upload may take a minute and must not block confirmations.
  const [busy, setBusy] = useState<ReadonlySet<GroupMenuTask>>(new Set());
  const name = isolateBidi(group.name);
  const close = () => openOverlay(undefined);

  const run = async (task: GroupMenuTask, ...command: Parameters<typeof runGroupCommand>) => {
    if (busy.has(task)) return false;
    setBusy((before) => new Set(before).add(task));
    const isDone = await runGroupCommand(...command);
    setBusy((before) => new Set([...before].filter((other) => other !== task)));
    return isDone;
  };
  /** Runs a confirmed command and closes the dialog, whatever the result. */
  const runConfirmed = async (...command: Parameters<typeof runGroupCommand>) => {
    await run("confirmation", ...command);
    close();
    restoreLostFocus();
  };
  /** Runs a command after which the user is no longer a member, and leaves the page. */
  const runLeaving = async (...command: Parameters<typeof runGroupCommand>) => {
    onLeaving(true);
    if (await run("confirmation", ...command)) return navigateIfStillHere("/app", { replace: true });
    close();
    onLeaving(false);
  };
  const leave = (successor?: Uuid) =>
    runLeaving(() => leaveGroup(id, successor), {
      done: t("groups.leave.done", { name }),
      failed: t("groups.leave.failed"),
    });

  const confirm = (confirmation: GroupConfirmation) => {
    switch (confirmation.type) {
      case "clear":
        return runConfirmed(() => clearConversation(id), {
          announced: t("chat.cleared"),
          failed: t("chat.clearFailed"),
        });
      case "removePicture":
        return runConfirmed(() => changeGroupPicture(id, null), {
          announced: t("groups.picture.removed"),
          failed: t("groups.picture.failed"),
        });
      case "remove": {
        const { user } = confirmation.member;
        const who = { name: formatGroupMemberName(confirmation.member) };
        const texts = { announced: t("groups.remove.done", who), failed: t("groups.remove.failed", who) };
        return runConfirmed(() => removeGroupMember(id, user), texts);
      }
      case "handOver": {
        const { user } = confirmation.member;
        const who = { name: formatGroupMemberName(confirmation.member) };
        const texts = { announced: t("groups.handOver.done", who), failed: t("groups.handOver.failed", who) };
        return runConfirmed(() => transferGroupOwnership(id, user), texts);
      }
      case "leave":
        return leave(confirmation.successor?.user);
      case "end":
        return runLeaving(() => deleteGroupForEveryone(id), {
          done: t("groups.end.done", { name }),
          failed: t("groups.end.failed"),
        });
    }
  };

  const confirmLeave = () =>
    openOverlay(group.role === "owner" && group.count > 1 ? { type: "successor" } : { type: "leave" });
  const toggleMute = () =>
    mute.muted
      ? void run("mute", () => muteConversation(id, false), { announced: t("mute.isOff"), failed: t("mute.failed") })
      : openOverlay({ type: "mute" });
  const setPicture = async (file: File) => {
    const picture = await prepareGroupPicture(file);
    if (!picture) return;
    await run("picture", () => changeGroupPicture(id, picture), {
      announced: t("groups.picture.done"),
      failed: t("groups.picture.failed"),
    });
  };

  const menuItems: MenuItem[] = [
    {
      id: "mute",
      label: mute.muted ? toUnmuteLabel(mute.mutedUntil, t) : t("mute.on"),
      icon: mute.muted ? "i-ph-bell" : "i-ph-bell-slash",
      onSelect: toggleMute,
    },
    ...(mute.muted
      ? [
          {
            id: "muteLength",
            label: t("mute.change"),
            icon: "i-ph-bell-slash",
            onSelect: () => openOverlay({ type: "mute" }),
          },
        ]
      : []),
    { id: "clear", label: t("chat.clear"), icon: "i-ph-broom", onSelect: () => openOverlay({ type: "clear" }) },
    { id: "leave", label: t("groups.leave.action"), icon: "i-ph-sign-out", tone: "danger", onSelect: confirmLeave },
  ];
  if (isGroupActionAllowed(group.role, "rename")) {
    const label = t("groups.rename.action");
    menuItems.unshift({
      id: "rename",
      label,
      icon: "i-ph-pencil-simple",
      onSelect: () => openOverlay({ type: "rename" }),
    });
  }
  if (isGroupActionAllowed(group.role, "end")) {
    const label = t("groups.end.action");
    menuItems.push({
      id: "end",
      label,
      icon: "i-ph-trash",
      tone: "danger",
      onSelect: () => openOverlay({ type: "end" }),
    });
  }

  const getMemberMenuItems = (member: GroupMemberView): MenuItem[] => {
    if (member.isMe || member.user === "") return [];
    const memberItems: MenuItem[] = [];
    if (isGroupActionAllowed(group.role, "handOver")) {
      const label = t("groups.handOver.action");
      memberItems.push({
        id: "owner",
        label,
        icon: "i-ph-crown-simple",
        onSelect: () => openOverlay({ type: "handOver", member }),
      });
    }
    if (isGroupActionAllowed(group.role, "remove")) {
      const label = t("groups.remove.action");
      const onSelect = () => openOverlay({ type: "remove", member });
      memberItems.push({ id: "remove", label, icon: "i-ph-user-minus", tone: "danger", onSelect });
    }
    return memberItems;
  };

  const isMember = (person: Uuid) => members?.some(({ user }) => user === person) ?? false;
  const overlayElement = (
    <>
      {overlay?.type === "add" && (
        <AddMembersSheet group={id} count={group.count} candidates={candidates} isMember={isMember} onClose={close} />
      )}
      {overlay?.type === "rename" && <RenameGroupDialog group={id} name={group.name} onClose={close} />}
      {overlay?.type === "successor" && (
        <SuccessorSheet
          members={members}
          onPick={(successor) => openOverlay({ type: "leave", successor })}
          onClose={close}
        />
      )}
      {overlay?.type === "mute" && (
        <MuteDialog
          isGroup
          exceptsMentions={mute.mutedExceptMentions}
          onChoose={(mute, texts) => void run("mute", () => muteConversation(id, true, mute), texts)}
          onClose={close}
        />
      )}
      {isConfirmation(overlay) && (
        <GroupConfirmDialog
          confirmation={overlay}
          group={group}
          isBusy={busy.has("confirmation")}
          onConfirm={() => void confirm(overlay)}
          onClose={close}
        />
      )}
    </>
  );
  return {
    openOverlay,
    confirmLeave,
    toggleMute,
    isMuting: busy.has("mute"),
    setPicture: (file) => void setPicture(file),
    isSettingPicture: busy.has("picture"),
    menuItems,
    getMemberMenuItems,
    overlay: overlayElement,
  };
};
