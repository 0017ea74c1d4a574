import { useTranslation } from "react-i18next";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { Bubble, type BubbleProps } from "#features/chat/message/bubble.tsx";
import { type ChatPeople, findSender, getSenderName } from "#features/chat/message/senders.ts";
import { SystemMessage } from "#features/chat/message/system-message.tsx";
import { loadWithIdleTexts } from "#i18n/setup.ts";

const CallMessage = lazyComponent(() => loadWithIdleTexts(() => import("#features/chat/message/call-message.tsx")));

type MessageListRowProps = Omit<BubbleProps, "authorLabel" | "sender"> & {
  people: ChatPeople;
  /** Placeholder height while the code of the row is loading. */
  estimateHeightPx: () => number;
};

/** Row of the message list: a message bubble, a system message or a call entry. */
export function MessageListRow({ people, estimateHeightPx, ...props }: MessageListRowProps) {
  const { t } = useTranslation();
  const { item, placement, isTarget, isTabStop, actions } = props;
  const { body, mine, sender } = item;
  if (body.type === "event") return <SystemMessage body={body} mine={mine} sender={sender} people={people} />;
  const authorLabel = mine ? t("chat.fromYou") : t("chat.from", { name: getSenderName(people, sender, t) });
  if (body.type === "call") {
    return (
      <CallMessage
        item={item}
        body={body}
        peerName={people.name}
        authorLabel={authorLabel}
        endsRun={placement.endsRun}
        isTarget={isTarget}
        isTabStop={isTabStop}
        actions={actions}
        fallback={<div style={{ height: estimateHeightPx() }} />}
      />
    );
  }
  return <Bubble {...props} authorLabel={authorLabel} sender={mine ? undefined : findSender(people, sender, t)} />;
}
