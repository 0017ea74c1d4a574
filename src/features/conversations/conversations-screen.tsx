import { useContext, useDeferredValue, useState } from "react";
import { useTranslation } from "react-i18next";
import { SearchField } from "#components/controls/search-field.tsx";
import { IsPageContext, Screen } from "#components/layout/screen.tsx";
import { useBackButton } from "#components/overlays/back-button-layers.ts";
import { lazyOverlay } from "#components/overlays/lazy-overlay.tsx";
import { MenuButton } from "#components/overlays/menu.tsx";
import { searchQueryMaxLength } from "#contract/limits/search.ts";
import { loadMulticast } from "#sync/actions/load-code.ts";
import { ConversationList } from "./conversation-list.tsx";
import { ConversationSearchResults } from "./search/conversation-search-results.tsx";
import { readSavedSearch, useSavedSearch } from "./search/saved-search.ts";
import { useConversationMenu } from "./use-conversation-menu.tsx";
import { useStartMenu } from "./use-start-menu.ts";

const NewChatSheet = lazyOverlay(() => import("./new-chat-sheet.tsx"));
// Loads the sending code together with the sheet: the network may be gone once the sheet is open.
const BroadcastSheet = lazyOverlay(async () => {
  const [sheet] = await Promise.all([import("./broadcast-sheet.tsx"), loadMulticast()]);
  return sheet;
});

/** Makes back navigation close the search. */
function SearchLayer({ onClose }: { onClose: () => void }) {
  useBackButton(onClose);
  return null;
}

/** Masolo: the conversation list, its search, and the actions that start a conversation. */
export default function ConversationsScreen() {
  const { t } = useTranslation();
  const [saved] = useState(readSavedSearch);
  const [typed, setTyped] = useState(saved.query);
  const deferred = useDeferredValue(typed.trim());
  // The first letter is not deferred: its results are in memory and shown in its frame.
  const query = deferred || typed.trim();
  // The history entry of the search waits for the deferred text, because the browser computes the layout to add it.
  const isEntered = deferred !== "" && typed.trim() !== "";
  const [hasFocus, setFocus] = useState(false);
  const [filters, setFilters] = useState(saved.filters);
  const isFiltered = Object.keys(filters).length > 0;
  const isSearching = query !== "" || isFiltered;
  const isPage = useContext(IsPageContext);
  useSavedSearch(deferred, filters);
  const closeSearch = () => {
    setTyped("");
    setFilters({});
  };
  // The shortcut "new chat" of the installed app (src/prerender/web-manifest.ts) opens this path.
  const [sheet, setSheet] = useState<"chat" | "broadcast" | undefined>(location.search === "?new" ? "chat" : undefined);
  const items = useStartMenu(setSheet);
  const { menu, dialog } = useConversationMenu();
  const closeSheet = () => setSheet(undefined);
  return (
    <Screen
      title={t("masolo.title")}
      description={t("masolo.description")}
      scrolls={false}
      actions={<MenuButton label={t("masolo.actions")} icon="i-ph-note-pencil" items={items} />}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: only notices that the focus is in it */}
      <div
        className={isSearching ? "flex min-h-0 flex-1 flex-col" : "shrink-0"}
        onFocus={() => setFocus(true)}
        onBlur={({ currentTarget, relatedTarget }) => setFocus(currentTarget.contains(relatedTarget))}
      >
        <div className="shrink-0 px-4 py-3">
          <SearchField
            label={t("masolo.searchLabel")}
            placeholder={t("masolo.searchHint")}
            maxLength={searchQueryMaxLength}
            value={typed}
            onChange={setTyped}
          />
        </div>
        {(isSearching || hasFocus) && (
          // With the focus alone it prepares the search: code, messages, and the layout of what the first letter shows.
          <div className={isSearching ? "flex min-h-0 flex-1 flex-col" : "invisible flex h-0 flex-col overflow-hidden"}>
            <ConversationSearchResults query={query} filters={filters} menu={menu} onFilter={setFilters} />
          </div>
        )}
      </div>
      <div className={isSearching ? "hidden" : "contents"}>
        <ConversationList menu={menu} />
      </div>
      {/* Beside a chat it stays open: there, back navigation leaves the chat. */}
      {isPage && (isFiltered || isEntered) && <SearchLayer onClose={closeSearch} />}
      {dialog}
      {sheet === "chat" && <NewChatSheet onClose={closeSheet} />}
      {sheet === "broadcast" && <BroadcastSheet onClose={closeSheet} />}
    </Screen>
  );
}
