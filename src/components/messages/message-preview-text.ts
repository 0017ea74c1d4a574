// @unocss-include – the icons below are CSS classes, and UnoCSS scans only component files by default.
import type { StoredBody } from "#contract/messages/body.ts";
import { removeFormatting } from "#contract/wire/formatting.ts";
import { formatDuration } from "#i18n/format.ts";
import type { Translate } from "#i18n/setup.ts";
import { type CallPerspective, formatCallEntry, toCallEntry } from "./call-text.ts";
import { describeDeleter, type MemberNames } from "./member-names.ts";
import { describePrivateEvent, describeSystemMessage } from "./system-message-text.ts";

/** Sender and member names of a group message. */
export type GroupMessageContext = { sender: number | undefined; names: MemberNames };

export type PreviewParts = {
  icon?: string;
  text: string;
  /** The text describes the message instead of quoting it. */
  isNote?: true;
};

/** Incoming call of an unnamed peer. */
const peerCall: CallPerspective = { isMine: false, peerName: "" };

export const toPreviewParts = (
  body: StoredBody,
  t: Translate,
  inGroup: GroupMessageContext | undefined,
  perspective = peerCall,
): PreviewParts => {
  switch (body.type) {
    case "text":
      return { text: removeFormatting(body.text) };
    case "image":
      return { icon: "i-ph-image", text: body.text ? removeFormatting(body.text) : t("messages.photo") };
    case "file":
      return { icon: "i-ph-file", text: body.text ? `${body.name} – ${removeFormatting(body.text)}` : body.name };
    case "voice":
      return { icon: "i-ph-microphone", text: t("messages.voice", { time: formatDuration(body.ms) }) };
    case "deleted":
      return {
        icon: "i-ph-prohibit",
        text: describeDeleter(body, inGroup?.names, t) ?? t("messages.deleted"),
        isNote: true,
      };
    case "call": {
      const entry = toCallEntry(body, perspective, t);
      return { icon: entry.icon, text: formatCallEntry(entry, t) };
    }
    case "event":
      return {
        text: inGroup
          ? describeSystemMessage(body, inGroup.sender, inGroup.names, t)
          : describePrivateEvent(perspective.isMine, perspective.peerName || t("common.user"), t),
        isNote: true,
      };
    default:
      body satisfies { type: "withheld" };
      return { text: t("messages.unreadable"), isNote: true };
  }
};

/** Plain text of a message with its type, for screen readers. */
export const describeMessage = (body: StoredBody, t: Translate, inGroup?: GroupMessageContext): string => {
  if (body.type === "image" && body.text) return t("messages.photoWith", { text: removeFormatting(body.text) });
  const { text } = toPreviewParts(body, t, inGroup);
  return body.type === "file" ? t("messages.file", { name: text }) : text;
};
