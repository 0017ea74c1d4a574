import { useTranslation } from "react-i18next";
import { late } from "#components/layout/lazy-component.tsx";
import { Bubble, type BubbleProps } from "#features/chat/message/bubble.tsx";
import { type ChatPeople, nameOfSender, writerOf } from "#features/chat/message/senders.ts";
import { EventLine } from "#features/chat/message/system-message.tsx";

const CallRow = late(() => import("#features/chat/message/call-message.tsx"));

type MessageRowProps = Omit<BubbleProps, "author" | "writer"> & {
  people: ChatPeople;
  /** The room it is given until what draws it is here. */
  roomPx: () => number;
};

/** What stands in the list: what somebody said, what happened in a group, or a call. */
export function MessageRow({ people, roomPx, ...props }: MessageRowProps) {
  const { t } = useTranslation();
  const { item, placement, isTarget, isTabStop, deeds } = props;
  const { body, mine, sender } = item;
  if (body.type === "event") return <EventLine body={body} sender={sender} people={people} />;
  const author = mine ? t("chat.fromYou") : t("chat.from", { name: nameOfSender(people, sender, t) });
  if (body.type === "call") {
    return (
      <CallRow
        item={item}
        body={body}
        name={people.name}
        author={author}
        endsRun={placement.endsRun}
        isTarget={isTarget}
        isTabStop={isTabStop}
        deeds={deeds}
        fallback={<div style={{ height: roomPx() }} />}
      />
    );
  }
  return <Bubble {...props} author={author} writer={mine ? undefined : writerOf(people, sender, t)} />;
}
