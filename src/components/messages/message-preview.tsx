import { useTranslation } from "react-i18next";
import type { StoredBody } from "#contract/conversations.ts";
import { formatDuration } from "#i18n/format.ts";
import type { Translate } from "#i18n/setup.ts";
import { balanceBidi } from "#lib/text/bidi.ts";
import { type CallPerspective, formatCallEntry, toCallEntry } from "./call-text.ts";
import type { MemberNames } from "./member-names.ts";
import { describeSystemMessage } from "./system-message-text.ts";

/** Sender and member names of a group message. */
export type GroupMessageContext = { sender: number | undefined; names: MemberNames };

type PreviewParts = {
  icon?: string;
  text: string;
  /** The text describes the message instead of quoting it. */
  isNote?: true;
};

/** Incoming call of an unnamed peer. */
const peerCall: CallPerspective = { isMine: false, peerName: "" };

const toPreviewParts = (
  body: StoredBody,
  t: Translate,
  inGroup: GroupMessageContext | undefined,
  perspective = peerCall,
): PreviewParts => {
  switch (body.type) {
    case "text":
      return { text: body.text };
    case "image":
      return { icon: "i-ph-image", text: body.text ?? t("messages.photo") };
    case "file":
      return { icon: "i-ph-file", text: body.text ? `${body.name} – ${body.text}` : body.name };
    case "voice":
      return { icon: "i-ph-microphone", text: t("messages.voice", { time: formatDuration(body.ms) }) };
    case "deleted":
      return { icon: "i-ph-prohibit", text: t("messages.deleted"), isNote: true };
    case "call": {
      const entry = toCallEntry(body, perspective, t);
      return { icon: entry.icon, text: formatCallEntry(entry, t) };
    }
    case "event":
      if (inGroup) return { text: describeSystemMessage(body, inGroup.sender, inGroup.names, t), isNote: true };
      break;
  }
  return { text: t("messages.unreadable"), isNote: true };
};

/** Plain text of a message with its type, for screen readers. */
export const describeMessage = (body: StoredBody, t: Translate, inGroup?: GroupMessageContext): string => {
  if (body.type === "image" && body.text) return t("messages.photoWith", { text: body.text });
  const { text } = toPreviewParts(body, t, inGroup);
  return body.type === "file" ? t("messages.file", { name: text }) : text;
};

/** One-line preview of a message. Quoted text is bidi-isolated, so that it does not reorder the text around it. */
export function MessagePreview({
  body,
  inGroup,
  perspective,
}: {
  body: StoredBody;
  inGroup?: GroupMessageContext | undefined;
  /** For a call entry. */
  perspective?: CallPerspective;
}) {
  const { t } = useTranslation();
  const { icon, text, isNote } = toPreviewParts(body, t, inGroup, perspective);
  return (
    <>
      {icon && <span className={`${icon} mr-1 align-[-0.125em] text-base`} aria-hidden="true" />}
      {body.type === "image" && body.text && <span className="sr-only">{t("messages.photo")} </span>}
      {isNote ? <i>{text}</i> : <bdi>{balanceBidi(text)}</bdi>}
    </>
  );
}
