import type Dexie from "dexie";
import * as v from "valibot";
import { GroupCard } from "#contract/groups.ts";
import { ConversationId, privateMembers, Uuid } from "#contract/ids.ts";
import { relationStates } from "#contract/people.ts";
import type { PersonRow } from "#sync/store/database.ts";

/** Person as stored, without the number of the server's push, which counts in one database only. */
const KnownPerson = v.object({
  id: Uuid,
  username: v.string(),
  phone: v.string(),
  avatar: v.nullable(v.string()),
  createdAt: v.number(),
  state: v.picklist(relationStates),
  requestId: v.nullable(Uuid),
  connectionId: v.nullable(Uuid),
  since: v.number(),
  blocked: v.picklist([0, 1]),
  deleted: v.exactOptional(v.literal(1)),
});

const KnownGroup = v.object({ id: ConversationId, group: GroupCard });

/**
 * People and groups that unsent messages are addressed to. They are shown by their names in a new database, before the
 * server has told of them again.
 */
export type KnownNames = { people: PersonRow[]; groups: v.InferOutput<typeof KnownGroup>[] };

export const noKnownNames: KnownNames = { people: [], groups: [] };

/** Rows of these keys that match the schema; none if the table is missing or unreadable. */
const readRows = async <S extends v.GenericSchema>(
  database: Dexie,
  table: string,
  keys: readonly string[],
  schema: S,
): Promise<v.InferOutput<S>[]> => {
  if (!database.tables.some(({ name }) => name === table)) return [];
  const rows = await database
    .table(table)
    .bulkGet([...keys])
    .catch(() => []);
  return rows.flatMap((row) => {
    const parsed = v.safeParse(schema, row);
    return parsed.success ? [parsed.output] : [];
  });
};

/** Reads what a database, of whichever version, knows of the people and groups of these conversations. */
export const readKnownNames = async (database: Dexie, conversations: Iterable<ConversationId>): Promise<KnownNames> => {
  const ids = [...new Set(conversations)];
  const members = ids.flatMap((id) => privateMembers(id) ?? []);
  const groups = ids.filter((id) => !privateMembers(id));
  return {
    people: await readRows(database, "people", members, KnownPerson),
    groups: await readRows(database, "conversations", groups, KnownGroup),
  };
};
