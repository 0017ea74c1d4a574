import { useTranslation } from "react-i18next";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { textScaleClasses, toTextScale } from "#components/messages/large-emoji.ts";
import { describeDeleter, type MemberNames } from "#components/messages/member-names.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { findMentions } from "#contract/messages/mentions.ts";
import type { AttachmentProps } from "#features/chat/attachments/use-attachment.ts";
import { loadWithIdleTexts } from "#i18n/setup.ts";
import { cardHeightPx, cardWidthPx, toImageBox } from "./bubble-metrics.ts";
import { BubbleText } from "./message-text.tsx";

const ImageAttachment = lazyComponent<AttachmentProps<"image">>(() =>
  loadWithIdleTexts(() => import("#features/chat/attachments/image-attachment.tsx")),
);
const FileAttachment = lazyComponent<AttachmentProps<"file">>(() =>
  loadWithIdleTexts(() => import("#features/chat/attachments/file-attachment.tsx")),
);
const VoiceMessage = lazyComponent<AttachmentProps<"voice">>(() =>
  loadWithIdleTexts(() => import("#features/chat/attachments/voice-message.tsx")),
);

type BubbleContentProps = Omit<AttachmentProps<"image">, "body"> & {
  time: string;
  /** Names of the members; only in a group. */
  members: MemberNames | undefined;
  isExpanded: boolean;
  onExpand: () => void;
};

const fileCardSize = { width: cardWidthPx - 2 * 12, minHeight: cardHeightPx - 2 * 8 };
const voiceCardSize = { width: cardWidthPx - 2 * 12, height: cardHeightPx - 2 * 8 };

function BubbleNote({ icon, text, time, mine }: { icon: string; text: string; time: string; mine: boolean }) {
  return (
    <p className="px-3 py-2 text-start leading-[1.4] text-muted italic">
      <span className={`${icon} mr-1 align-[-0.125em] text-base`} aria-hidden="true" />
      <bdi>{text}</bdi>
      <span
        aria-hidden="true"
        data-time={time}
        className={`invisible inline-block text-xs tabular-nums not-italic before:content-[attr(data-time)] ${mine ? "px-4" : "px-2"}`}
      />
    </p>
  );
}

/** Content of a message by its type. The size of an image or card is reserved before its code and data are loaded. */
export function BubbleContent({ time, members, isExpanded, onExpand, ...props }: BubbleContentProps) {
  const { t } = useTranslation();
  const { mine } = props.item;
  const body: StoredBody = props.item.body;
  const renderText = (text: string) => (
    <BubbleText
      text={text}
      mentions={findMentions(body)}
      time={time}
      mine={mine}
      isExpanded={isExpanded}
      onExpand={onExpand}
    />
  );
  // A caption wraps within the width of its attachment.
  const renderCaption = (text: string | undefined, className: string) =>
    text !== undefined && <div className={`w-0 min-w-full ${className}`}>{renderText(text)}</div>;
  switch (body.type) {
    case "text":
      return <div className={`px-3 py-2 ${textScaleClasses[toTextScale(body.text)]}`}>{renderText(body.text)}</div>;
    case "image": {
      const { widthPx, ratio } = toImageBox(body.width, body.height);
      return (
        <div className="p-1">
          <div
            className="relative max-w-full overflow-hidden rounded-card bg-raised"
            style={{ width: widthPx, aspectRatio: ratio }}
          >
            <ImageAttachment {...props} body={body} />
          </div>
          {renderCaption(body.text, "px-2 pt-1.5 pb-1")}
        </div>
      );
    }
    case "file":
      return (
        <div className="px-3 py-2">
          <div className="flex max-w-full flex-col justify-center" style={fileCardSize}>
            <FileAttachment {...props} body={body} />
          </div>
          {renderCaption(body.text, "pt-1")}
        </div>
      );
    case "voice":
      return (
        <div className="px-3 py-2">
          <div className="max-w-full" style={voiceCardSize}>
            <VoiceMessage {...props} body={body} />
          </div>
        </div>
      );
    case "deleted":
      return (
        <BubbleNote
          icon="i-ph-prohibit"
          text={describeDeleter(body, members, t) ?? t("chat.deletedMessage")}
          time={time}
          mine={mine}
        />
      );
    default:
      body satisfies { type: "event" | "call" | "withheld" }; // have rows of their own, or none
      return <BubbleNote icon="i-ph-question" text={t("chat.unreadable")} time={time} mine={mine} />;
  }
}
