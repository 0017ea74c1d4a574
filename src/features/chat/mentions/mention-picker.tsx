import { type RefObject, useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Avatar } from "#components/people/avatar.tsx";
import { PhoneNumber } from "#components/people/phone-number.tsx";
import { isGroupActionAllowed } from "#contract/groups.ts";
import type { ConversationId } from "#contract/ids.ts";
import { isComposingKey } from "#lib/browser/composing-key.ts";
import { useSession } from "#lib/session/use-session.ts";
import { balanceBidi } from "#lib/text/bidi.ts";
import { loadNamedMentions } from "#sync/actions/message-actions.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import { useGroupMembers } from "#sync/hooks/use-group.ts";
import { findMentionQuery, listMentionOptions, type MentionOption, type MentionQuery } from "./mention-options.ts";

export type MentionPickerProps = {
  conversation: ConversationId;
  /** Field in which mentions are written. The list stands above its form. */
  field: RefObject<HTMLTextAreaElement | null>;
};

/** Attributes of the field while the list is open (ARIA pattern of a combobox with a list). */
const fieldAttributes = ["aria-autocomplete", "aria-haspopup", "aria-controls", "aria-activedescendant"] as const;

/**
 * List of the members that match the mention being written in a field. The arrow keys move in it, Enter and Tab choose,
 * Escape closes it. The focus stays in the field. A choice is an input of the field, so that its form needs no code for
 * it.
 */
export default function MentionPicker({ conversation, field }: MentionPickerProps) {
  const { t } = useTranslation();
  const id = useId();
  const me = useSession()?.userId;
  const group = useConversation(conversation)?.group;
  const { members = [] } = useGroupMembers(conversation, group?.roster);
  const [query, setQuery] = useState<MentionQuery>();
  const [closedStart, setClosedStart] = useState<number>();
  const [activeIndex, setActiveIndex] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const everyoneName =
    group && isGroupActionAllowed(group.role, "mentionEveryone") ? t("chat.mention.everyone") : undefined;
  const isOpen = query !== undefined && query.start !== closedStart;
  const others = members.filter(({ user }) => user !== me);
  const options = isOpen ? listMentionOptions(others, everyoneName, query.text) : [];
  const active = options[Math.min(activeIndex, options.length - 1)];
  const toOptionId = (option: MentionOption) => `${id}-${option.member?.number ?? "all"}`;
  const activeId = active && toOptionId(active);

  const choose = ({ name, member }: MentionOption) => {
    const element = field.current;
    if (!element || !query) return;
    if (member)
      void loadNamedMentions().then(
        ({ rememberMentionedMember }) => rememberMentionedMember(conversation, name, member.number),
        () => undefined, // the name then mentions a member only if it is unique
      );
    setClosedStart(query.start);
    element.focus({ preventScroll: true });
    element.setRangeText(`@${name} `, query.start, query.start + query.text.length + 1, "end");
    element.dispatchEvent(new InputEvent("input", { bubbles: true }));
  };

  const update = useEffectEvent(() => {
    const element = field.current;
    const isTyping = element && element === document.activeElement && element.selectionStart === element.selectionEnd;
    const found = isTyping ? findMentionQuery(element.value, element.selectionStart) : undefined;
    if (found?.start === query?.start && found?.text === query?.text) return;
    setQuery(found);
    setActiveIndex(0);
    if (found?.start !== closedStart) setClosedStart(undefined);
  });

  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (!active || isComposingKey(event) || event.shiftKey) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setActiveIndex((options.indexOf(active) + step + options.length) % options.length);
    else if (event.key === "Enter" || event.key === "Tab") choose(active);
    else if (event.key === "Escape") setClosedStart(query?.start);
    else return;
    event.preventDefault();
    event.stopPropagation(); // the form must not send the text
  });

  useEffect(() => {
    const element = field.current;
    if (!element) return;
    const handleKeyDown = (event: KeyboardEvent) => onKeyDown(event);
    const handleChange = () => update();
    handleChange();
    element.addEventListener("keydown", handleKeyDown);
    element.addEventListener("input", handleChange);
    element.addEventListener("blur", handleChange);
    document.addEventListener("selectionchange", handleChange);
    return () => {
      element.removeEventListener("keydown", handleKeyDown);
      element.removeEventListener("input", handleChange);
      element.removeEventListener("blur", handleChange);
      document.removeEventListener("selectionchange", handleChange);
    };
  }, [field]);

  useEffect(() => {
    const element = field.current;
    if (!element || activeId === undefined) return;
    const values = ["list", "listbox", id, activeId];
    for (const [index, name] of fieldAttributes.entries()) element.setAttribute(name, values[index] ?? "");
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
    return () => {
      for (const name of fieldAttributes) element.removeAttribute(name);
    };
  }, [field, id, activeId]);

  return (
    <>
      <span role="status" className="sr-only">
        {active && t("chat.mention.found", { count: options.length })}
      </span>
      {active && (
        <div
          ref={list}
          id={id}
          role="listbox"
          aria-label={t("chat.mention.list")}
          className="absolute inset-x-2 bottom-full z-2 mb-1 max-h-60 overflow-y-auto overscroll-contain rounded-card border border-line bg-surface py-1 shadow-md"
        >
          {options.map((option) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the focus stays in the field, whose keys choose
            <div
              key={toOptionId(option)}
              id={toOptionId(option)}
              role="option"
              tabIndex={-1}
              aria-selected={option === active}
              className={`flex min-h-12 cursor-pointer items-center gap-3 px-3 ${option === active ? "bg-accent-soft" : "hover:bg-raised"}`}
              onPointerDown={(event) => event.preventDefault()} // keeps the focus in the field
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(option)}
            >
              {option.member ? (
                <Avatar person={option.member} size={32} />
              ) : (
                <span className="grid size-8 shrink-0 place-items-center rounded-full bg-accent font-bold text-on-accent">
                  @
                </span>
              )}
              <bdi className="min-w-0 flex-1 truncate font-medium">{balanceBidi(option.name)}</bdi>
              <span className="shrink-0 text-sm text-muted">
                {!option.member && t("chat.mention.everyoneHint")}
                {option.member && option.hasNamesake && <PhoneNumber phone={option.member.phone} />}
              </span>
            </div>
          ))}
        </div>
      )}
    </>
  );
}
