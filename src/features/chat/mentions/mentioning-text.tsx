import { Fragment, useContext } from "react";
import { Link } from "react-router";
import type { Mention } from "#contract/mentions.ts";
import { MentionContext } from "#features/chat/message/mention-context.ts";
import { LinkedMessageText } from "#features/chat/message/message-text.tsx";
import { useMemberProfiles } from "#sync/hooks/use-group.ts";

/** Text with its mentions emphasised, those of this user most; those of loaded members link to their profile. */
export function MentioningText({ text, mentions }: { text: string; mentions: readonly Mention[] }) {
  const { conversation, ownNumber } = useContext(MentionContext) ?? {};
  const profiles = useMemberProfiles(
    conversation,
    mentions.flatMap(([, , member]) => member ?? []),
  );
  let shownUpTo = 0;
  const parts = mentions
    .filter(([offset, length]) => offset + length <= text.length) // a collapsed text may lack the last ones
    .map(([offset, length, member]) => {
      const before = text.slice(shownUpTo, offset);
      shownUpTo = offset + length;
      const name = <LinkedMessageText text={text.slice(offset, shownUpTo)} />;
      const isOwn = member === undefined || member === ownNumber;
      const classes = `font-semibold text-accent ${isOwn ? "rounded-sm bg-accent-soft" : ""}`;
      const user = member === undefined ? undefined : profiles[member]?.user;
      return (
        <Fragment key={offset}>
          <LinkedMessageText text={before} />
          {user ? (
            <Link to={`/app/user/${user}`} className={classes}>
              {name}
            </Link>
          ) : (
            <strong className={classes}>{name}</strong>
          )}
        </Fragment>
      );
    });
  return (
    <>
      {parts}
      <LinkedMessageText text={text.slice(shownUpTo)} />
    </>
  );
}
