import { and, desc, eq, not, sql } from "drizzle-orm";
import type { RequestContext } from "#contract/contacts.ts";
import type { Uuid } from "#contract/ids.ts";
import { commonNamesMax, comparedContactsMax, comparedGroupsMax, requestPageRows } from "#contract/limits/people.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { connection_requests } from "#worker/db/relation-schema.ts";
import { isHiddenRequest } from "#worker/db/relations.ts";
import { profiles } from "#worker/db/schema.ts";
import { selectNameFor, selectProfiles } from "#worker/db/visible-profiles.ts";
import { logError } from "#worker/lib/log.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";
import { findPhoneCountry } from "./phone-country.ts";

/** Facts about the senders of contact requests, for the recipient to decide by (docs/decisions/contact-requests.md). */

type Names = RequestContext["contacts"];
const noNames: Names = { count: 0, names: [] };

const listSenders = (db: Db, me: Uuid) =>
  selectProfiles(db, me)
    .innerJoin(connection_requests, eq(connection_requests.from_user_id, profiles.id))
    .where(
      and(eq(connection_requests.to_user_id, me), eq(connection_requests.status, "pending"), not(isHiddenRequest(me))),
    )
    .orderBy(desc(connection_requests.id))
    .limit(requestPageRows);

/**
 * Contacts of a sender who are also contacts of the recipient. Blocks make no difference, so that none can be inferred.
 * Names are those that the recipient has in their own list, of a contact who blocks them too.
 */
const selectCommonContacts = (me: Uuid, sender: Uuid) => sql`
  SELECT ${selectNameFor(me)} AS name, count(*) OVER () AS count FROM (
    SELECT user2_id AS id FROM connections WHERE user1_id = ${sender}
    UNION ALL SELECT user1_id FROM connections WHERE user2_id = ${sender} LIMIT ${comparedContactsMax}
  ) AS theirs
  JOIN connections AS own
    ON own.conversation_id = min(theirs.id, ${me}) || '.' || max(theirs.id, ${me})
  JOIN profiles ON profiles.id = theirs.id
  ORDER BY own.id LIMIT ${commonNamesMax}`;

const listCommonContacts = async (db: Db, me: Uuid, senders: readonly Uuid[]): Promise<Map<Uuid, Names>> => {
  const found = await Promise.all(
    senders.map((sender) => db.all<{ name: string; count: number }>(selectCommonContacts(me, sender))),
  );
  return new Map(
    senders.map((sender, index) => {
      const rows = found[index] ?? [];
      return [sender, { count: rows[0]?.count ?? 0, names: rows.map(({ name }) => name) }];
    }),
  );
};

/**
 * Groups of the recipient that the senders are members of, as the groups show them to the recipient. Each group is
 * asked, because the sender's own channel does not know those in which they are a hidden member.
 */
const listCommonGroups = async (env: Env, me: Uuid, senders: readonly Uuid[]): Promise<Map<Uuid, Names>> => {
  const { rows } = await getUserChannelStub(env, me).listConversations(undefined);
  const groups = rows.filter(({ group, open }) => group !== null && open).slice(0, comparedGroupsMax);
  const common = new Map<Uuid, Names>();
  const found = await Promise.all(
    groups.map(({ conversation }) =>
      getConversationStub(env, conversation)
        .findMembers(me, senders)
        .catch((error: unknown) => {
          logError("a group could not be asked for the senders of requests", error);
          return [];
        }),
    ),
  );
  for (const [index, members] of found.entries()) {
    for (const member of members) {
      const { count, names } = common.get(member) ?? noNames;
      const name = groups[index]?.group?.name ?? "";
      common.set(member, { count: count + 1, names: [...names, name].slice(0, commonNamesMax) });
    }
  }
  return common;
};

/** Contexts of a person's newest received requests, newest first. */
export const listRequestContexts = async (env: Env, me: Uuid): Promise<RequestContext[]> => {
  const db = openDb(env);
  const senders = await listSenders(db, me);
  if (senders.length === 0) return [];
  const ids = senders.map(({ id }) => id);
  const [contacts, groups] = await Promise.all([listCommonContacts(db, me, ids), listCommonGroups(env, me, ids)]);
  return senders.map(({ id, phone, created_at, verified_at }) => ({
    from_user_id: id,
    country: findPhoneCountry(phone),
    account_month: new Date(created_at).toISOString().slice(0, "2026-11".length),
    is_verified: verified_at !== null,
    contacts: contacts.get(id) ?? noNames,
    groups: groups.get(id) ?? noNames,
  }));
};
