import { type RefObject, useMemo, useState } from "react";
import { useStableCallback } from "#components/layout/use-stable-callback.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { ChatPeople } from "#features/chat/message/senders.ts";
import { setReplyDraft } from "#sync/actions/drafts.ts";
import type { ReplyActions } from "./reply-actions-context.ts";

type ReplyOptions = {
  conversation: ConversationId;
  people: ChatPeople;
  canWrite: boolean;
  composer: RefObject<{ focus(): void } | null>;
  goToMessage: (seq: number) => void;
};

/**
 * Actions of replies, with a stable identity while the people stay the same. `returnSeq` is the reply whose quote was
 * followed, until the user has returned to it or left the place.
 */
export const useReplyActions = ({ conversation, people, canWrite, composer, goToMessage }: ReplyOptions) => {
  const [returnSeq, setReturnSeq] = useState<number>();
  const goTo = useStableCallback(goToMessage);
  const actions = useMemo<ReplyActions>(
    () => ({
      people,
      startReply: canWrite
        ? ({ seq, cid }) => {
            setReplyDraft(conversation, seq ?? cid);
            composer.current?.focus();
          }
        : undefined,
      showQuoted: (seq, item) => {
        setReturnSeq(item.seq);
        goTo(seq);
      },
    }),
    [conversation, people, canWrite, composer, goTo],
  );
  return {
    actions,
    returnSeq,
    returnToReply: () => {
      setReturnSeq(undefined);
      if (returnSeq !== undefined) goToMessage(returnSeq);
    },
    forgetReturn: () => setReturnSeq(undefined),
  };
};
