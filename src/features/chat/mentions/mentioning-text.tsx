import { Fragment, type ReactNode, useContext, useMemo } from "react";
import { Link } from "react-router";
import { FormattedText } from "#components/messages/formatted-text.tsx";
import type { Mention } from "#contract/messages/mentions.ts";
import { type FormattedPart, toShownText } from "#contract/wire/formatting.ts";
import { MentionContext } from "#features/chat/message/mention-context.ts";
import { LinkedMessageText } from "#features/chat/message/message-text.tsx";
import { HighlightedText } from "#features/chat/search/search-highlight.tsx";
import { useMemberProfiles } from "#sync/hooks/use-member-profiles.ts";

/** Text with its mentions emphasised, those of this user most; those of loaded members link to their profile. */
export function MentioningText({ text, mentions }: { text: string; mentions: readonly Mention[] }) {
  const { conversation, ownNumber } = useContext(MentionContext) ?? {};
  const profiles = useMemberProfiles(
    conversation,
    mentions.flatMap(([, , member]) => member ?? []),
  );
  const names = useMemo(() => mentions.map(([offset, length]) => [offset, offset + length] as const), [mentions]);

  const renderMention = ([offset, length, member]: Mention): ReactNode => {
    const name = <LinkedMessageText text={text.slice(offset, offset + length)} />;
    const isOwn = member === undefined || member === ownNumber;
    const classes = `font-semibold text-accent ${isOwn ? "rounded-sm bg-accent-soft" : ""}`;
    const user = member === undefined ? undefined : profiles[member]?.user;
    return user ? (
      <Link to={`/app/user/${user}`} className={classes}>
        {name}
      </Link>
    ) : (
      <strong className={classes}>{name}</strong>
    );
  };

  const renderPart = ({ start, end }: FormattedPart, isCode: boolean): ReactNode => {
    if (isCode) return <HighlightedText text={text.slice(start, end)} />;
    let shownUpTo = start;
    const parts = mentions
      .filter(([offset, length]) => offset >= start && offset + length <= end) // a collapsed text may lack the last
      .map((mention) => {
        const [offset, length] = mention;
        const before = toShownText(text, { start: shownUpTo, end: offset });
        shownUpTo = offset + length;
        return (
          <Fragment key={offset}>
            <LinkedMessageText text={before} />
            {renderMention(mention)}
          </Fragment>
        );
      });
    return (
      <>
        {parts}
        <LinkedMessageText text={toShownText(text, { start: shownUpTo, end })} />
      </>
    );
  };

  return (
    <FormattedText text={text} protectedRanges={names}>
      {renderPart}
    </FormattedText>
  );
}
