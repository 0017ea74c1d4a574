import type { Uuid } from "../../contract/ids";
import type { RelationState } from "../../contract/people";

/**
 * Who may do what, in one table of pure rules: `may.<action>(person, thing)`. A stranger to a thing is answered
 * as if it did not exist (404), so that nobody learns what there is by asking.
 */
type Request = { from_user_id: Uuid; to_user_id: Uuid };
type Acquaintance = { id: Uuid; state: RelationState; haveAsked: boolean };

export const rules = {
  /** Oneself, contacts, and people with whom a request was ever exchanged. */
  "profile.read": (person: Uuid, other: Acquaintance) =>
    person === other.id || other.state === "contact" || other.haveAsked,
  /** Only whom a request was sent to answers it (SPEC.md §6). */
  "request.answer": (person: Uuid, request: Request) => person === request.to_user_id,
  /** Nobody asks themselves (SPEC.md §5). */
  "request.send": (person: Uuid, other: { id: Uuid }) => person !== other.id,
} as const;

type Rules = typeof rules;

export const can = <A extends keyof Rules>(person: Uuid, action: A, thing: Parameters<Rules[A]>[1]): boolean =>
  (rules[action] as (person: Uuid, thing: Parameters<Rules[A]>[1]) => boolean)(person, thing);
