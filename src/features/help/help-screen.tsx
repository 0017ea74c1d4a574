import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { SearchField } from "#components/controls/search-field.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { useLoaded } from "#components/layout/use-loaded.ts";
import { type TextKey, useLanguage } from "#i18n/setup.ts";
import { DiagnosticsSection } from "./diagnostics-section.tsx";
import { type HelpScreenName, helpScreens } from "./help-screens.ts";
import { enterHelp, helpVisit } from "./help-visit.ts";
import { FoundQuestionList, TopicList } from "./question-list.tsx";
import { type HelpQuestion, loadQuestions, resolveQuestion, searchHelpQuestions } from "./questions.ts";

/** Questions of the current language, or why there are none yet; and a function that loads them again. */
const useQuestions = (): [HelpQuestion[] | "loading" | "failed", () => void] => {
  const language = useLanguage();
  const { value, failure, retry } = useLoaded(language, () => loadQuestions(language));
  return [failure === undefined ? (value ?? "loading") : "failed", retry];
};

type QuestionSearchProps = { questions: readonly HelpQuestion[]; query: string };

/** Questions that match the query, or all by topic without one. */
function FoundQuestions({ questions, query }: QuestionSearchProps) {
  const { t } = useTranslation();
  const isSearching = query.trim() !== "";
  const shown = questions.map((question) =>
    resolveQuestion(question, (insert) =>
      t("key" in insert ? (insert.key as TextKey) : helpScreens[insert.screen as HelpScreenName].title),
    ),
  );
  const ids = isSearching ? searchHelpQuestions(shown, query) : [];
  const found = ids.flatMap((id) => questions.find((question) => question.id === id) ?? []);
  return (
    <>
      <p role="status" className={found.length > 0 ? "px-4 text-sm text-muted" : "sr-only"}>
        {isSearching && t("help.found", { count: found.length })}
      </p>
      {!isSearching && <TopicList questions={questions} />}
      {isSearching && found.length > 0 && <FoundQuestionList questions={found} />}
      {isSearching && found.length === 0 && (
        <EmptyState icon="i-ph-lifebuoy" title={t("help.noneTitle")} body={t("help.none")} />
      )}
    </>
  );
}

/** Help page (SPEC.md §2 Help): questions and answers with search, and diagnostics for support. Works offline. */
export default function HelpScreen() {
  const { t } = useTranslation();
  const [questions, retry] = useQuestions();
  const { key } = useLocation();
  const [query, setQuery] = useState(() => {
    enterHelp(key);
    return helpVisit.query;
  });
  const change = (next: string) => {
    helpVisit.query = next;
    setQuery(next);
  };
  return (
    <Screen
      title={t("help.title")}
      description={t("help.description")}
      backPath="/app/profile"
      backMode="previous"
      hasProfileButton={false}
    >
      <div className="mx-auto flex w-full max-w-160 flex-col gap-4 p-4 pb-8">
        <SearchField label={t("help.search")} value={query} onChange={change} />
        {questions === "loading" && <PaneSpinner />}
        {questions === "failed" && (
          <EmptyState
            icon="i-ph-cloud-slash"
            title={t("help.failedTitle")}
            body={t("errors.offline")}
            action={<Button onClick={retry}>{t("common.retry")}</Button>}
          />
        )}
        {typeof questions === "object" && <FoundQuestions questions={questions} query={query} />}
        <DiagnosticsSection />
      </div>
    </Screen>
  );
}
