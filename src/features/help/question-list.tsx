import { Fragment, type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { TextKey } from "#i18n/setup.ts";
import { type HelpScreenName, helpScreens } from "./help-screens.ts";
import { helpVisit } from "./help-visit.ts";
import { type HelpQuestion, type HelpTopic, helpTopics, splitInserts } from "./questions.ts";

const topicHeads = {
  messages: { title: "help.topicMessages", icon: "i-ph-chat-circle-dots" },
  find: { title: "help.topicFind", icon: "i-ph-magnifying-glass" },
  notifications: { title: "help.topicNotifications", icon: "i-ph-bell" },
  people: { title: "help.topicPeople", icon: "i-ph-user-plus" },
  groups: { title: "help.topicGroups", icon: "i-ph-users-three" },
  calls: { title: "help.topicCalls", icon: "i-ph-phone" },
  privacy: { title: "help.topicPrivacy", icon: "i-ph-lock-simple" },
  statuses: { title: "help.topicStatuses", icon: "i-ph-eye" },
  account: { title: "help.topicAccount", icon: "i-ph-shield-check" },
  phone: { title: "help.topicPhone", icon: "i-ph-device-mobile" },
} as const satisfies Record<HelpTopic, { title: TextKey; icon: string }>;

/** Text with the words of the interface and the links to screens that it names. */
function ShownText({ text, onLeave }: { text: string; onLeave?: () => void }) {
  const { t } = useTranslation();
  return splitInserts(text).map((piece, index) => {
    const key = `${index}`;
    if ("text" in piece) return <Fragment key={key}>{piece.text}</Fragment>;
    if ("key" in piece) return <Fragment key={key}>{t(piece.key as TextKey)}</Fragment>;
    const { path, title } = helpScreens[piece.screen as HelpScreenName];
    return (
      <Link
        key={key}
        to={path}
        onClick={onLeave}
        className="py-1.5 font-semibold text-accent underline underline-offset-4"
      >
        {t(title)}
      </Link>
    );
  });
}

type DisclosureProps = { id: string; className: string; summary: ReactNode; children: ReactNode };

/** Part of the page that opens and closes, and is open again when the person comes back to the page. */
function Disclosure({ id, className, summary, children }: DisclosureProps) {
  const [isOpen] = useState(() => helpVisit.open.has(id));
  return (
    <details
      id={id}
      open={isOpen}
      className={className}
      onToggle={({ currentTarget, target }) => {
        if (target !== currentTarget) return; // a question within a topic
        if (currentTarget.open) helpVisit.open.add(id);
        else helpVisit.open.delete(id);
      }}
    >
      <summary className="flex min-h-14 cursor-pointer list-none items-center gap-3 px-4 py-3 font-semibold -outline-offset-3 hover:bg-raised [&::-webkit-details-marker]:hidden">
        {summary}
      </summary>
      {children}
    </details>
  );
}

const toQuestionId = (id: string): string => `question-${id}`;

const cardClass = "overflow-hidden rounded-card border border-line bg-surface";

/** Questions whose answers open below them. */
function QuestionList({ questions, className }: { questions: readonly HelpQuestion[]; className: string }) {
  return (
    <ul className={`divide-y divide-line ${className}`}>
      {questions.map(({ id, question, answer }) => (
        <li key={id}>
          <Disclosure
            id={toQuestionId(id)}
            className="group/question"
            summary={
              <>
                <span className="min-w-0 flex-1">
                  <ShownText text={question} />
                </span>
                <span
                  className="i-ph-caret-down shrink-0 text-muted transition-transform group-open/question:rotate-180"
                  aria-hidden="true"
                />
              </>
            }
          >
            <p className="px-4 pt-1 pb-4 leading-relaxed whitespace-pre-line">
              <ShownText
                text={answer}
                onLeave={() => {
                  helpVisit.left = id;
                }}
              />
            </p>
          </Disclosure>
        </li>
      ))}
    </ul>
  );
}

export function FoundQuestionList({ questions }: { questions: readonly HelpQuestion[] }) {
  return <QuestionList questions={questions} className={cardClass} />;
}

/** Questions by topic. Topics are closed at first, so that all of them are seen at once. */
export function TopicList({ questions }: { questions: readonly HelpQuestion[] }) {
  const { t } = useTranslation();
  useEffect(() => {
    const { left } = helpVisit;
    helpVisit.left = undefined;
    if (left !== undefined) document.getElementById(toQuestionId(left))?.scrollIntoView({ block: "center" });
  }, []);
  return (
    <div className="flex flex-col gap-2">
      {helpTopics.map((topic) => {
        const { title, icon } = topicHeads[topic];
        return (
          <Disclosure
            key={topic}
            id={`topic-${topic}`}
            className={`group/topic ${cardClass}`}
            summary={
              <>
                <span className={`${icon} shrink-0 text-2xl text-accent`} aria-hidden="true" />
                <h2 className="min-w-0 flex-1">{t(title)}</h2>
                <span
                  className="i-ph-caret-down shrink-0 text-muted transition-transform group-open/topic:rotate-180"
                  aria-hidden="true"
                />
              </>
            }
          >
            <QuestionList
              questions={questions.filter((question) => question.topic === topic)}
              className="border-t border-line"
            />
          </Disclosure>
        );
      })}
    </div>
  );
}
