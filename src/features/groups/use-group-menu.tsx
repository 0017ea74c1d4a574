import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { keepFocus } from "#components/focus/title-focus.ts";
import { lateLayer } from "#components/layout/lazy-component.tsx";
import { useLeadOn } from "#components/layout/use-navigate-if-still-here.ts";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { type GroupCard, groupCan } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { isolate } from "#lib/text/bidi.ts";
import { clearConversation, muteConversation } from "#sync/actions.ts";
import { endGroup, handOver, leaveGroup, removeMember, setGroupPicture } from "#sync/people/group-commands.ts";
import { takePicture } from "./create/read-picture.ts";
import { GroupQuestion, type Question } from "./group-question.tsx";
import { nameOfMember, type ShownMember } from "./members/member-view.ts";
import { carryOut } from "./run-with-toast.ts";

const AddMembers = lateLayer(() => import("./members/add-members.tsx"));
const RenameDialog = lateLayer(() => import("./rename-dialog.tsx"));
const HeirSheet = lateLayer(() => import("./members/successor-sheet.tsx"));

/** What is open over the page: a question before something that cannot be taken back, or something to fill in. */
type Layer = Question | { type: "add" } | { type: "rename" } | { type: "heir" };

type Subject = {
  id: Uuid;
  group: GroupCard;
  isMuted: boolean;
  members: ShownMember[] | undefined;
  /** Told before one goes, and with false when nothing came of it. */
  onLeaving: (isLeaving: boolean) => void;
};

type Way = "question" | "mute" | "picture";

export type GroupDeeds = {
  ask: (layer: Layer) => void;
  askToLeave: () => void;
  toggleMute: () => void;
  isMuting: boolean;
  setPicture: (file: File) => void;
  isPicturing: boolean;
  /** Of the group's menu. */
  items: MenuItem[];
  /** Of a member's menu. */
  itemsFor: (member: ShownMember) => MenuItem[];
  dialog: ReactNode;
};

/** What one may do with a group and its members, with the questions asked before. */
export const useGroupDeeds = ({ id, group, isMuted, members, onLeaving }: Subject): GroupDeeds => {
  const { t } = useTranslation();
  const leadOn = useLeadOn();
  const [layer, ask] = useState<Layer>();
  // A picture may take a minute: what is answered meanwhile goes its own way.
  const [busy, setBusy] = useState<ReadonlySet<Way>>(new Set());
  const name = isolate(group.name);
  const close = () => ask(undefined);

  const run = async (what: Way, ...doing: Parameters<typeof carryOut>) => {
    if (busy.has(what)) return false;
    setBusy((before) => new Set(before).add(what));
    const isDone = await carryOut(...doing);
    setBusy((before) => new Set([...before].filter((one) => one !== what)));
    return isDone;
  };
  /** Does what was asked for; the question goes either way. */
  const answer = async (...doing: Parameters<typeof carryOut>) => {
    await run("question", ...doing);
    close();
    keepFocus();
  };
  /** After this the group is none of mine. */
  const depart = async (...doing: Parameters<typeof carryOut>) => {
    onLeaving(true);
    if (await run("question", ...doing)) return leadOn("/app", { replace: true });
    close();
    onLeaving(false);
  };
  const leave = (heir?: Uuid) =>
    depart(() => leaveGroup(id, heir), { done: t("groups.leave.done", { name }), failed: t("groups.leave.failed") });

  const confirm = (question: Question) => {
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
        const who = { name: nameOfMember(question.member) };
        const said = { done: t("groups.remove.done", who), failed: t("groups.remove.failed", who) };
        return answer(() => removeMember(id, user), said);
      }
      case "handOver": {
        const { user } = question.member;
        const who = { name: nameOfMember(question.member) };
        const said = { done: t("groups.handOver.done", who), failed: t("groups.handOver.failed", who) };
        return answer(() => handOver(id, user), said);
      }
      case "leave":
        return leave(question.heir?.user);
      case "end":
        return depart(() => endGroup(id), { done: t("groups.end.done", { name }), failed: t("groups.end.failed") });
    }
  };

  const askToLeave = () => ask(group.role === "owner" && group.count > 1 ? { type: "heir" } : { type: "leave" });
  const toggleMute = () =>
    void run("mute", () => muteConversation(id, !isMuted), {
      done: t(isMuted ? "mute.isOff" : "mute.isOn"),
      failed: t("mute.failed"),
    });
  const setPicture = async (file: File) => {
    const picture = await takePicture(file);
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
  if (groupCan(group.role, "rename")) {
    const label = t("groups.rename.action");
    items.unshift({ id: "rename", label, icon: "i-ph-pencil-simple", onSelect: () => ask({ type: "rename" }) });
  }
  if (groupCan(group.role, "end")) {
    const label = t("groups.end.action");
    items.push({ id: "end", label, icon: "i-ph-trash", tone: "danger", onSelect: () => ask({ type: "end" }) });
  }

  const itemsFor = (member: ShownMember): MenuItem[] => {
    if (member.isMe || member.user === "") return [];
    const own: MenuItem[] = [];
    if (groupCan(group.role, "handOver")) {
      const label = t("groups.handOver.action");
      own.push({ id: "owner", label, icon: "i-ph-crown-simple", onSelect: () => ask({ type: "handOver", member }) });
    }
    if (groupCan(group.role, "remove")) {
      const label = t("groups.remove.action");
      const onSelect = () => ask({ type: "remove", member });
      own.push({ id: "remove", label, icon: "i-ph-user-minus", tone: "danger", onSelect });
    }
    return own;
  };

  const isIn = (person: Uuid) => members?.some(({ user }) => user === person) ?? false;
  const dialog = (
    <>
      {layer?.type === "add" && <AddMembers group={id} count={group.count} isIn={isIn} onClose={close} />}
      {layer?.type === "rename" && <RenameDialog group={id} name={group.name} onClose={close} />}
      {layer?.type === "heir" && (
        <HeirSheet members={members} onPick={(heir) => ask({ type: "leave", heir })} onClose={close} />
      )}
      {layer && layer.type !== "add" && layer.type !== "rename" && layer.type !== "heir" && (
        <GroupQuestion
          question={layer}
          group={group}
          isBusy={busy.has("question")}
          onConfirm={() => void confirm(layer)}
          onClose={close}
        />
      )}
    </>
  );
  return {
    ask,
    askToLeave,
    toggleMute,
    isMuting: busy.has("mute"),
    setPicture: (file) => void setPicture(file),
    isPicturing: busy.has("picture"),
    items,
    itemsFor,
    dialog,
  };
};
