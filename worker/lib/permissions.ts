import type { Uuid } from "#contract/ids.ts";
import type { RelationState } from "#contract/people.ts";

type RelatedPerson = { id: Uuid; state: RelationState; blocked: boolean };

/**
 * Who may do what over HTTP, as pure rules: `can.<action>(person, thing)`. A stranger to a thing is answered as
 * if it did not exist (404), so that nobody learns what there is by asking. Conversations judge for themselves.
 */
export const can = {
  /** Oneself, contacts, people with whom a request is pending, and those in one's own list of blocked people. */
  readProfile: (person: Uuid, other: RelatedPerson): boolean =>
    person === other.id || other.state !== "none" || other.blocked,
  /** Only whom a request was sent to answers it (SPEC.md §6). */
  answerRequest: (person: Uuid, request: { to_user_id: Uuid }): boolean => person === request.to_user_id,
  /** Nobody asks themselves (SPEC.md §5). */
  sendRequest: (person: Uuid, other: { id: Uuid }): boolean => person !== other.id,
  /** Nor does anybody block themselves. */
  block: (person: Uuid, other: { id: Uuid }): boolean => person !== other.id,
  /** What everybody reads only its author takes back. */
  deletePost: (person: Uuid, post: { user_id: Uuid }): boolean => person === post.user_id,
} as const;
