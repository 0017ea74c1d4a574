import { useTranslation } from "react-i18next";
import { describePrivateEvent, describeSystemMessage } from "#components/messages/system-message-text.ts";
import type { EventBody } from "#contract/messages/body.ts";
import type { ChatPeople } from "./senders.ts";

type SystemMessageProps = { body: EventBody; mine: boolean; sender: number | undefined; people: ChatPeople };

/** Centred system message, such as "A added B". */
export function SystemMessage({ body, mine, sender, people }: SystemMessageProps) {
  const { t } = useTranslation();
  return (
    <p className="mx-auto my-1 w-fit max-w-[85%] rounded-card bg-raised px-3 py-1 text-center text-sm text-muted [overflow-wrap:anywhere]">
      {people.members
        ? describeSystemMessage(body, sender, people.members, t)
        : describePrivateEvent(mine, people.name, t)}
    </p>
  );
}
