import { useTranslation } from "react-i18next";
import { late } from "../../components/late";
import { Bubble, type BubbleProps } from "./bubble";
import { type ChatPeople, nameOfSender, writerOf } from "./chat-people";
import { EventLine } from "./event-line";

const CallRow = late(() => import("./call-row"));

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
