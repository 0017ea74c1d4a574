import type { GroupInvitation } from "#contract/groups.ts";
import { commonNamesMax } from "#contract/limits/people.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { listRelations } from "#worker/db/relations.ts";
import { pushPendingAfterResponse } from "#worker/lib/contact-updates.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { logError } from "#worker/lib/log.ts";
import type { InvitingGroup } from "#worker/objects/rpc/groups.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";
import {
  type GroupInvitationRow,
  listContactIds,
  listReceivedInvitations,
  settleInvitation,
} from "./invitation-queries.ts";

/** Tells the caller's devices how many invitations wait for an answer. */
export const pushInvitationCount = (c: AppContext): void =>
  pushPendingAfterResponse(c, "push the number of invitations to own devices", [c.var.caller.user]);

type OpenInvitation = { row: GroupInvitationRow; group: InvitingGroup };

/** Asks the groups, at most 20. Invitations that ended there are withdrawn; unreachable groups are left out. */
const listOpenInvitations = async (c: AppContext): Promise<OpenInvitation[]> => {
  const db = openDb(c.env);
  const me = c.var.caller.user;
  const rows = await listReceivedInvitations(db, me);
  if (rows.length === 0) {
    pushInvitationCount(c); // the device has an older number: they expired
    return [];
  }
  const contacts = await listContactIds(db, me);
  const found = await Promise.all(
    rows.map(async (row): Promise<OpenInvitation[]> => {
      try {
        const group = await getConversationStub(c.env, row.group_id).findInvitation(me, contacts);
        if (!isRefusal(group) && group.owner === row.from_user_id) {
          const others = group.contacts.filter((contact) => contact !== group.owner);
          return [{ row, group: { ...group, contacts: others } }];
        }
        await settleInvitation(db, row, "withdrawn");
      } catch (error) {
        logError("a group could not be asked for an invitation", error);
      }
      return [];
    }),
  );
  const open = found.flat();
  if (open.length < rows.length) pushInvitationCount(c);
  return open;
};

/** Received invitations as the caller sees them, newest first: with the contacts who are members. */
export const listGroupInvitations = async (c: AppContext): Promise<GroupInvitation[]> => {
  const open = await listOpenInvitations(c);
  const shown = open.flatMap(({ row, group }) => [row.from_user_id, ...group.contacts.slice(0, commonNamesMax)]);
  const relations = await listRelations(openDb(c.env), c.var.caller.user, [...new Set(shown)]);
  const byId = new Map(relations.map((relation) => [relation.profile.id, relation]));
  return open.flatMap(({ row, group }) => {
    const sender = byId.get(row.from_user_id);
    if (!sender) return [];
    const is_contact = sender.state === "contact";
    const names = group.contacts.slice(0, commonNamesMax).map((id) => byId.get(id)?.profile.username ?? "");
    return {
      id: row.id,
      group: { id: row.group_id, name: group.name, count: group.count },
      from_user: is_contact ? sender.profile : { ...sender.profile, avatar_url: null },
      is_contact,
      created_at: row.created_at,
      contacts: { count: group.contacts.length, names },
    };
  });
};
