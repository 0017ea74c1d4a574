import { type RefObject, useMemo, useRef, useState } from "react";
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
  const latestGoTo = useRef(goToMessage);
  latestGoTo.current = goToMessage;
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
        latestGoTo.current(seq);
      },
    }),
    [conversation, people, canWrite, composer],
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
