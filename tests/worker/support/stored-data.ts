import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { privateConversationId } from "#contract/ids.ts";
import { deletionSettleMs } from "#contract/limits/people.ts";
import type { Person } from "#tests/support/people/people.ts";
import { waitUntil } from "./device.ts";
import { call } from "./site.ts";

/** All stored data of every storage, for finding what remains of a deleted account. */

export type StoredText = { where: string; text: string };

const ownTable = "type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_cf_%' AND name NOT LIKE 'd1_%'";

/** All rows of all tables of the directory; the index of the phone search is read by its results. */
export const readDirectory = async (): Promise<StoredText[]> => {
  const { results } = await env.DB.prepare(
    `SELECT name FROM sqlite_master WHERE ${ownTable} AND name NOT LIKE 'profile_phone_heads%'`,
  ).all<{ name: string }>();
  const places = await Promise.all(
    results.map(async ({ name }) => {
      const rows = await env.DB.prepare(`SELECT * FROM "${name}"`).all();
      return rows.results.map((row) => ({ where: name, text: JSON.stringify(row) }));
    }),
  );
  return places.flat();
};

const pendingTables = ["deletions", "pending_relations"];
/** Tables of the directory with rows of a person, except those of pending operations. */
export const listPersonalTables = async (): Promise<string[]> => {
  const { results } = await env.DB.prepare(
    `SELECT m.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE ${ownTable.replaceAll(/\b(type|name)\b/g, "m.$1")} AND c.name = 'user_id'`,
  ).all<{ name: string }>();
  return results.map(({ name }) => name).filter((name) => !pendingTables.includes(name));
};

export const listObjectKeys = async (): Promise<StoredText[]> => {
  const places: StoredText[] = [];
  for (const [where, bucket] of Object.entries({ AVATARS: env.AVATARS, FILES: env.FILES })) {
    for (let cursor: string | undefined, more = true; more; ) {
      const page: R2Objects = await bucket.list(cursor === undefined ? {} : { cursor });
      places.push(...page.objects.map(({ key }) => ({ where, text: key })));
      cursor = page.truncated ? page.cursor : undefined;
      more = page.truncated;
    }
  }
  return places;
};

const readTables = (where: string, { sql }: DurableObjectStorage): StoredText[] =>
  sql
    .exec<{ name: string }>(`SELECT name FROM sqlite_master WHERE ${ownTable} AND name <> 'schema_version'`)
    .toArray()
    .flatMap(({ name }) =>
      sql
        .exec(`SELECT * FROM "${name}"`)
        .toArray()
        .map((row) => ({ where: `${where} ${name}`, text: JSON.stringify(row) })),
    );

export const readChannel = (user: Uuid): Promise<StoredText[]> =>
  runInDurableObject(env.USER_CHANNEL.getByName(user), (_, { storage }) => readTables("channel", storage));
export const readConversation = (id: ConversationId): Promise<StoredText[]> =>
  runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage }) => readTables("conversation", storage));

export const deleteAccount = (person: Person, user: Uuid = person.id) =>
  call("DELETE", "/api/account", { token: person.token, body: { user_id: user } });

export const runChannelAlarm = (user: Uuid): Promise<boolean> =>
  runDurableObjectAlarm(env.USER_CHANNEL.getByName(user));

export const countDeletions = async (user: Uuid): Promise<number> =>
  (await env.DB.prepare("SELECT count(*) AS n FROM deletions WHERE user_id = ?").bind(user).first<number>("n")) ?? 0;

/** Whether the person's own channel contains only the mark of its deletion. */
export const isChannelPurged = async (user: Uuid): Promise<boolean> => (await readChannel(user)).length === 1;

/** The same, ignoring errors of the object. */
const tryChannelAlarm = (user: Uuid): Promise<boolean> => runChannelAlarm(user).catch(() => true);

/** Runs a started deletion to its end, as if its waiting time had passed. */
export const finishDeletion = async (user: Uuid): Promise<void> => {
  await waitUntil(async () => {
    await tryChannelAlarm(user);
    return isChannelPurged(user);
  });
  await env.DB.prepare("UPDATE deletions SET started_at = started_at - ? WHERE user_id = ?")
    .bind(deletionSettleMs, user)
    .run();
  await waitUntil(async () => {
    await tryChannelAlarm(user);
    return (await countDeletions(user)) === 0;
  });
};

/** All stored data that names the person: by id, phone number, name, picture or recovery address. */
export const findTraces = async (
  { id, phone, username, email = id }: Pick<Person, "id" | "phone" | "username"> & { email?: string },
  others: readonly Uuid[],
  groups: readonly ConversationId[],
): Promise<StoredText[]> => {
  const conversations = [...groups, ...others.map((other) => privateConversationId(id, other))];
  const places = [
    ...(await readDirectory()),
    ...(await listObjectKeys()),
    ...(await Promise.all([id, ...others].map(readChannel))).flat(),
    ...(await Promise.all(conversations.map(readConversation))).flat(),
  ];
  return places.filter(({ text }) => [id, phone, username, email].some((trace) => text.includes(trace)));
};
