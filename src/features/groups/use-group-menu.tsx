import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { restoreLostFocus } from "#components/focus/title-focus.ts";
import { lazyOverlay } from "#components/layout/lazy-component.tsx";
import { useNavigateIfStillHere } from "#components/layout/use-navigate-if-still-here.ts";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { type GroupCard, isGroupActionAllowed } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { clearConversation, muteConversation } from "#sync/actions.ts";
import {
  deleteGroupForEveryone,
  leaveGroup,
  removeMember,
  setGroupPicture,
  transferGroupOwnership,
} from "#sync/people/group-commands.ts";
import { prepareGroupPicture } from "./create/prepare-group-picture.ts";
import { type GroupConfirmation, GroupConfirmDialog } from "./group-confirm-dialog.tsx";
import { formatGroupMemberName, type GroupMemberView } from "./members/member-view.ts";
import { runGroupCommand } from "./run-group-command.ts";

const AddMembersSheet = lazyOverlay(() => import("./members/add-members-sheet.tsx"));
const RenameGroupDialog = lazyOverlay(() => import("./rename-group-dialog.tsx"));
const SuccessorSheet = lazyOverlay(() => import("./members/successor-sheet.tsx"));

/** What is open over the page: a question before something that cannot be taken back, or something to fill in. */
type GroupOverlay = GroupConfirmation | { type: "add" } | { type: "rename" } | { type: "heir" };

type GroupMenuOptions = {
  id: Uuid;
  group: GroupCard;
  isMuted: boolean;
  members: GroupMemberView[] | undefined;
  /** Told before one goes, and with false when nothing came of it. */
  onLeaving: (isLeaving: boolean) => void;
};

type GroupMenuTask = "question" | "mute" | "picture";

export type GroupMenu = {
  openOverlay: (layer: GroupOverlay) => void;
  confirmLeave: () => void;
  toggleMute: () => void;
  isMuting: boolean;
  setPicture: (file: File) => void;
  isSettingPicture: boolean;
  /** Of the group's menu. */
  menuItems: MenuItem[];
  /** Of a member's menu. */
  getMemberMenuItems: (member: GroupMemberView) => MenuItem[];
  overlay: ReactNode;
};

/** What one may do with a group and its members, with the questions asked before. */
export const useGroupMenu = ({ id, group, isMuted, members, onLeaving }: GroupMenuOptions): GroupMenu => {
  const { t } = useTranslation();
  const leadOn = useNavigateIfStillHere();
  const [layer, ask] = useState<GroupOverlay>();
  // A picture may take a minute: what is answered meanwhile goes its own way.
  const [busy, setBusy] = useState<ReadonlySet<GroupMenuTask>>(new Set());
  const name = isolateBidi(group.name);
  const close = () => ask(undefined);

  const run = async (what: GroupMenuTask, ...doing: Parameters<typeof runGroupCommand>) => {
    if (busy.has(what)) return false;
    setBusy((before) => new Set(before).add(what));
    const isDone = await runGroupCommand(...doing);
    setBusy((before) => new Set([...before].filter((one) => one !== what)));
    return isDone;
  };
  /** Does what was asked for; the question goes either way. */
  const answer = async (...doing: Parameters<typeof runGroupCommand>) => {
    await run("question", ...doing);
    close();
    restoreLostFocus();
  };
  /** After this the group is none of mine. */
  const depart = async (...doing: Parameters<typeof runGroupCommand>) => {
    onLeaving(true);
    if (await run("question", ...doing)) return leadOn("/app", { replace: true });
    close();
    onLeaving(false);
  };
  const leave = (heir?: Uuid) =>
    depart(() => leaveGroup(id, heir), { done: t("groups.leave.done", { name }), failed: t("groups.leave.failed") });

  const confirm = (question: GroupConfirmation) => {
    switch (question.type) {
      case "clear":
        return answer(() => clearConversation(id), { done: t("chat.cleared"), failed: t("chat.clearFailed") });
      case "unpicture":
        return answer(() => setGroupPicture(id, null), {
          done: t("groups.picture.removed"),
          failed: t("groups.picture.failed"),
        });
      case "remove": {
        const { user } = question.member;
        const who = { name: formatGroupMemberName(question.member) };
        const said = { done: t("groups.remove.done", who), failed: t("groups.remove.failed", who) };
        return answer(() => removeMember(id, user), said);
      }
      case "handOver": {
        const { user } = question.member;
        const who = { name: formatGroupMemberName(question.member) };
        const said = { done: t("groups.handOver.done", who), failed: t("groups.handOver.failed", who) };
        return answer(() => transferGroupOwnership(id, user), said);
      }
      case "leave":
        return leave(question.successor?.user);
      case "end":
        return depart(() => deleteGroupForEveryone(id), {
          done: t("groups.end.done", { name }),
          failed: t("groups.end.failed"),
        });
    }
  };

  const askToLeave = () => ask(group.role === "owner" && group.count > 1 ? { type: "heir" } : { type: "leave" });
  const toggleMute = () =>
    void run("mute", () => muteConversation(id, !isMuted), {
      done: t(isMuted ? "mute.isOff" : "mute.isOn"),
      failed: t("mute.failed"),
    });
  const setPicture = async (file: File) => {
    const picture = await prepareGroupPicture(file);
    if (!picture) return;
    await run("picture", () => setGroupPicture(id, picture), {
      done: t("groups.picture.done"),
      failed: t("groups.picture.failed"),
    });
  };

  const items: MenuItem[] = [
    {
      id: "mute",
      label: t(isMuted ? "mute.off" : "mute.on"),
      icon: isMuted ? "i-ph-bell" : "i-ph-bell-slash",
      onSelect: toggleMute,
    },
    { id: "clear", label: t("chat.clear"), icon: "i-ph-broom", onSelect: () => ask({ type: "clear" }) },
    { id: "leave", label: t("groups.leave.action"), icon: "i-ph-sign-out", tone: "danger", onSelect: askToLeave },
  ];
  if (isGroupActionAllowed(group.role, "rename")) {
    const label = t("groups.rename.action");
    items.unshift({ id: "rename", label, icon: "i-ph-pencil-simple", onSelect: () => ask({ type: "rename" }) });
  }
  if (isGroupActionAllowed(group.role, "end")) {
    const label = t("groups.end.action");
    items.push({ id: "end", label, icon: "i-ph-trash", tone: "danger", onSelect: () => ask({ type: "end" }) });
  }

  const itemsFor = (member: GroupMemberView): MenuItem[] => {
    if (member.isMe || member.user === "") return [];
    const own: MenuItem[] = [];
    if (isGroupActionAllowed(group.role, "handOver")) {
      const label = t("groups.handOver.action");
      own.push({ id: "owner", label, icon: "i-ph-crown-simple", onSelect: () => ask({ type: "handOver", member }) });
    }
    if (isGroupActionAllowed(group.role, "remove")) {
      const label = t("groups.remove.action");
      const onSelect = () => ask({ type: "remove", member });
      own.push({ id: "remove", label, icon: "i-ph-user-minus", tone: "danger", onSelect });
    }
    return own;
  };

  const isIn = (person: Uuid) => members?.some(({ user }) => user === person) ?? false;
  const dialog = (
    <>
      {layer?.type === "add" && <AddMembersSheet group={id} count={group.count} isMember={isIn} onClose={close} />}
      {layer?.type === "rename" && <RenameGroupDialog group={id} name={group.name} onClose={close} />}
      {layer?.type === "heir" && (
        <SuccessorSheet members={members} onPick={(heir) => ask({ type: "leave", successor: heir })} onClose={close} />
      )}
      {layer && layer.type !== "add" && layer.type !== "rename" && layer.type !== "heir" && (
        <GroupConfirmDialog
          confirmation={layer}
          group={group}
          isBusy={busy.has("question")}
          onConfirm={() => void confirm(layer)}
          onClose={close}
        />
      )}
    </>
  );
  return {
    openOverlay: ask,
    confirmLeave: askToLeave,
    toggleMute,
    isMuting: busy.has("mute"),
    setPicture: (file) => void setPicture(file),
    isSettingPicture: busy.has("picture"),
    menuItems: items,
    getMemberMenuItems: itemsFor,
    overlay: dialog,
  };
};
