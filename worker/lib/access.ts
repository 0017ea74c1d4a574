import type { Uuid } from "../../contract/ids";
import type { RelationState } from "../../contract/people";
import type { FindableBy } from "../../contract/settings";

type Acquaintance = { id: Uuid; state: RelationState; blocked: boolean; haveAsked: boolean };

/** `haveMet`: there ever was a request between the two, or they are in one group. */
export type Meeting = { state: RelationState; haveMet: boolean };

/**
 * Who may do what over HTTP, as pure rules: `can.<action>(person, thing)`. A stranger to a thing is answered as
 * if it did not exist (404), so that nobody learns what there is by asking. Conversations judge for themselves.
 */
export const can = {
  /** Oneself, contacts, people with whom a request was ever exchanged, and those in one's own list of blocked people. */
  readProfile: (person: Uuid, other: Acquaintance): boolean =>
    person === other.id || other.state === "contact" || other.haveAsked || other.blocked,
  /**
   * Of a profile that is read, the number too: one's own, a contact's, that of somebody who asks one; and of whom one
   * has met in any other way while a part of it is enough to find them. An id alone, which the feed of statuses tells
   * everybody, gives nobody's number away, whatever one does with it.
   */
  readPhone: (person: Uuid, other: Meeting & { id: Uuid; findable: FindableBy }): boolean =>
    person === other.id ||
    other.state === "contact" ||
    other.state === "received" ||
    (other.haveMet && other.findable === "part"),
  /** Only whom a request was sent to answers it (SPEC.md §6). */
  answerRequest: (person: Uuid, request: { to_user_id: Uuid }): boolean => person === request.to_user_id,
  /** Nobody asks themselves (SPEC.md §5). */
  sendRequest: (person: Uuid, other: { id: Uuid }): boolean => person !== other.id,
  /** Nor does anybody block themselves. */
  block: (person: Uuid, other: { id: Uuid }): boolean => person !== other.id,
  /** What everybody reads only its author takes back. */
  deletePost: (person: Uuid, post: { user_id: Uuid }): boolean => person === post.user_id,
} as const;
