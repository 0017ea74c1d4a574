import type { Uuid } from "#contract/ids.ts";
import type { RelationState } from "#contract/people.ts";

type RelatedPerson = { id: Uuid; state: RelationState; blocked: boolean };

/**
 * Permissions of the HTTP API as pure rules: `can.<action>(person, thing)`. A person without access gets 404, as if the
 * thing did not exist. Conversations check their own permissions.
 */
export const can = {
  /**
   * By the relation alone: oneself, contacts, people with a pending request, and people one blocks. Which fields:
   * worker/lib/profile-visibility.ts.
   */
  readProfile: (person: Uuid, other: RelatedPerson): boolean =>
    person === other.id || other.state !== "none" || other.blocked,
  /** Only the recipient of a request can answer it (SPEC.md §6). */
  answerRequest: (person: Uuid, request: { to_user_id: Uuid }): boolean => person === request.to_user_id,
  /** Anybody but oneself (SPEC.md §5). */
  sendRequest: (person: Uuid, other: { id: Uuid }): boolean => person !== other.id,
  /** Anybody but oneself. */
  block: (person: Uuid, other: { id: Uuid }): boolean => person !== other.id,
  /** Only the author can delete a status. */
  deletePost: (person: Uuid, post: { user_id: Uuid }): boolean => person === post.user_id,
} as const;
