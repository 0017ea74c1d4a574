import { useTranslation } from "react-i18next";
import type { StoredBody } from "#contract/conversations.ts";
import { formatLength } from "#i18n/format.ts";
import type { Translate } from "#i18n/setup.ts";
import { balance } from "#lib/text/bidi.ts";
import { type CallSide, callLine, describeCall } from "./call-text.ts";
import type { MemberNames } from "./member-names.ts";
import { describeEvent } from "./system-message-text.ts";

/** Of a message in a group: who wrote it, and by whom its members are named. */
export type InGroup = { sender: number | undefined; names: MemberNames };

type Preview = {
  icon?: string;
  text: string;
  /** Our own words about the message, not words that stand in it. */
  isNote?: true;
};

/** What came from the other one, by whatever name. */
const theirs: CallSide = { isMine: false, name: "" };

const previewOf = (body: StoredBody, t: Translate, inGroup: InGroup | undefined, side = theirs): Preview => {
  switch (body.type) {
    case "text":
      return { text: body.text };
    case "image":
      return { icon: "i-ph-image", text: body.text ?? t("messages.photo") };
    case "file":
      return { icon: "i-ph-file", text: body.text ? `${body.name} – ${body.text}` : body.name };
    case "voice":
      return { icon: "i-ph-microphone", text: t("messages.voice", { time: formatLength(body.ms) }) };
    case "deleted":
      return { icon: "i-ph-prohibit", text: t("messages.deleted"), isNote: true };
    case "call": {
      const line = callLine(body, side, t);
      return { icon: line.icon, text: describeCall(line, t) };
    }
    case "event":
      if (inGroup) return { text: describeEvent(body, inGroup.sender, inGroup.names, t), isNote: true };
      break;
  }
  return { text: t("messages.unreadable"), isNote: true };
};

/** Any message in words alone, with its kind named: what a screen reader is told. */
export const describeMessage = (body: StoredBody, t: Translate, inGroup?: InGroup): string => {
  if (body.type === "image" && body.text) return t("messages.photoWith", { text: body.text });
  const { text } = previewOf(body, t, inGroup);
  return body.type === "file" ? t("messages.file", { name: text }) : text;
};

/** Any message on one line, in the reader's language. What somebody wrote reorders nothing beyond itself. */
export function MessagePreview({
  body,
  inGroup,
  side,
}: {
  body: StoredBody;
  inGroup?: InGroup | undefined;
  /** Of the line of a call. */
  side?: CallSide;
}) {
  const { t } = useTranslation();
  const { icon, text, isNote } = previewOf(body, t, inGroup, side);
  return (
    <>
      {icon && <span className={`${icon} mr-1 align-[-0.125em] text-base`} aria-hidden="true" />}
      {body.type === "image" && body.text && <span className="sr-only">{t("messages.photo")} </span>}
      {isNote ? <i>{text}</i> : <bdi>{balance(text)}</bdi>}
    </>
  );
}
