import { useTranslation } from "react-i18next";
import type { StoredBody } from "#contract/messages/body.ts";
import { balanceBidi, isRightToLeft } from "#lib/text/bidi.ts";
import type { CallPerspective } from "./call-text.ts";
import { type GroupMessageContext, toPreviewParts } from "./message-preview-text.ts";

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
      {isNote ? <i>{text}</i> : <bdi dir={isRightToLeft(text) ? "rtl" : undefined}>{balanceBidi(text)}</bdi>}
    </>
  );
}
