import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { IconLabel } from "#components/controls/icon-label.tsx";
import { SearchField } from "#components/controls/search-field.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { copyText } from "#components/overlays/copy-text.ts";
import { useLanguage } from "#i18n/setup.ts";
import { type HelpQuestion, type HelpTopic, helpQuestions, helpTopics, searchHelpQuestions } from "./questions.ts";
import { getAppVersion, useDiagnostics } from "./use-diagnostics.ts";

const topicTitles = {
  messages: "help.topicMessages",
  people: "help.topicPeople",
  calls: "help.topicCalls",
  account: "help.topicAccount",
  phone: "help.topicPhone",
} as const satisfies Record<HelpTopic, string>;

function QuestionList({ list }: { list: readonly HelpQuestion[] }) {
  return (
    <ul className="divide-y divide-line overflow-hidden rounded-card border border-line bg-surface">
      {list.map(({ id, question, answer }) => (
        <li key={id}>
          <details className="group">
            <summary className="flex min-h-14 cursor-pointer list-none items-center gap-3 px-4 py-3 font-semibold -outline-offset-3 hover:bg-raised [&::-webkit-details-marker]:hidden">
              <span className="min-w-0 flex-1">{question}</span>
              <span
                className="i-ph-caret-down shrink-0 text-muted transition-transform group-open:rotate-180"
                aria-hidden="true"
              />
            </summary>
            <p className="px-4 pt-2 pb-4 whitespace-pre-line">{answer}</p>
          </details>
        </li>
      ))}
    </ul>
  );
}

function DiagnosticsSection() {
  const { t } = useTranslation();
  const text = useDiagnostics();
  return (
    <section aria-labelledby="diagnosis" className="rounded-card border border-line bg-surface p-4">
      <h2 id="diagnosis" className="font-semibold">
        {t("help.diagnosis")}
      </h2>
      <p className="mt-1 text-sm text-muted">{t("help.diagnosisBody")}</p>
      <pre
        lang="en"
        className="my-3 min-h-32 rounded-card bg-raised p-3 font-mono text-xs leading-relaxed break-words whitespace-pre-wrap"
      >
        {text}
      </pre>
      <Button
        variant="secondary"
        className="w-full"
        disabled={text === undefined}
        onClick={() => {
          if (text !== undefined) void copyText(text, { done: t("help.copied"), failed: t("help.copyFailed") });
        }}
      >
        <IconLabel icon="i-ph-copy" label={t("help.copy")} />
      </Button>
      <p className="mt-3 text-center text-sm text-muted">{t("help.version", { version: getAppVersion() })}</p>
    </section>
  );
}

/** Help page (SPEC.md §2 Help): questions and answers with search, and diagnostics for support. Works offline. */
export default function HelpScreen() {
  const { t } = useTranslation();
  const all = helpQuestions[useLanguage()];
  const [query, setQuery] = useState("");
  const isSearching = query.trim() !== "";
  const found = isSearching ? searchHelpQuestions(all, query) : all;
  return (
    <Screen
      title={t("help.title")}
      description={t("help.description")}
      backPath="/app/profile"
      backMode="previous"
      hasProfileButton={false}
    >
      <div className="mx-auto flex w-full max-w-160 flex-col gap-4 p-4 pb-8">
        <SearchField label={t("help.search")} value={query} onChange={setQuery} />
        <p role="status" className={found.length > 0 && isSearching ? "px-4 text-sm text-muted" : "sr-only"}>
          {isSearching && t("help.found", { count: found.length })}
        </p>
        {found.length === 0 && <EmptyState icon="i-ph-lifebuoy" title={t("help.noneTitle")} body={t("help.none")} />}
        {isSearching
          ? found.length > 0 && <QuestionList list={found} />
          : helpTopics.map((topic) => (
              <section key={topic} aria-labelledby={`topic-${topic}`}>
                <h2 id={`topic-${topic}`} className="mb-2 px-4 font-semibold text-muted">
                  {t(topicTitles[topic])}
                </h2>
                <QuestionList list={all.filter((question) => question.topic === topic)} />
              </section>
            ))}
        <DiagnosticsSection />
      </div>
    </Screen>
  );
}
