import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { InboxRow } from "#contract/conversations.ts";
import type { GroupRole } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { gapPageRows } from "#contract/limits/conversations.ts";
import { countsAsUnread, type Message } from "#contract/messages/message.ts";
import { toMessageStatus } from "#contract/messages/status.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import type { MemberEntries } from "#worker/objects/rpc/groups.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";
import { waitUntil } from "./device.ts";

/** Checks that all data of a group agrees: its log, members, counts and everybody's rows. */

type StoredMember = {
  number: number;
  user_id: Uuid;
  state: "in" | "quiet" | "quietLeaving" | "leaving" | "out";
  role: GroupRole;
  delivered: number;
  read: number;
  hidden: number;
  joined: number;
  turn: number;
  version: number;
  kept: string | null;
};

type Counts = Pick<MemberEntries, "roster" | "count">;

/** Stored members. */
export const readMembers = (id: Uuid): Promise<StoredMember[]> =>
  runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage: { sql } }) =>
    sql.exec<StoredMember>("SELECT * FROM members ORDER BY number").toArray(),
  );

/** Stored inbox row of a person, after deferred writes. */
const readStoredRow = (user: Uuid, id: Uuid) =>
  runInDurableObject(env.USER_CHANNEL.getByName(user), async (_, { storage: { sql } }) => {
    await getUserChannelStub(env, user).listConversations(0);
    return sql
      .exec<{ gone: number; open: number; preview: string | null; unread: number; turn: number; hidden: number }>(
        "SELECT * FROM inbox WHERE conversation = ?",
        id,
      )
      .toArray()[0];
  });

const sorted = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b);

export class GroupOracle {
  readonly id: Uuid;
  /** Object to query: a stub by name, or the object itself for a test that runs inside it. */
  conversation: ConversationRpc;
  readonly #witness: Uuid;
  /** Membership derived from the log's system messages read so far. */
  readonly #memberNumbers = new Set<number>();
  readonly #joinedAt = new Map<number, number>();
  /** Members who left at least once, and keep the history they had. */
  readonly #formerMembers = new Set<number>();
  #owner = 0;
  #leavingOwner: number | undefined;
  readonly #log: Message[] = [];
  /** Membership from the pages of members, read incrementally as a device does. */
  readonly #members = new Map<number, { user: Uuid; role: GroupRole; left: boolean }>();
  #membersVersion = 0;

  /**
   * `witness` stays a member all the time and clears nothing. `first` members created the group; its log does not say
   * how many.
   */
  constructor(id: Uuid, witness: Uuid, first: number) {
    this.id = id;
    this.conversation = getConversationStub(env, id);
    this.#witness = witness;
    for (let number = 0; number < first; number++) this.#memberNumbers.add(number);
  }

  /** Reads new messages and checks that each was allowed when it was written. */
  async read(): Promise<Message[]> {
    const first = this.#log.length;
    for (let more = true; more; ) {
      const seq = this.#log.length;
      const query = { type: "page", conversation: this.id, direction: "after", seq, limit: gapPageRows } as const;
      const page = await this.conversation.listMessages(this.#witness, query);
      if (isRefusal(page)) throw new Error(page.error);
      // Only the author gets the client id of a message.
      for (const { cid: _, ...line } of page.messages) this.#replay(line);
      more = page.more;
      if (!more) expect(page.head).toBe(this.#log.length);
    }
    return this.#log.slice(first);
  }

  /** Checks that everything agrees. Waits for pending notices to these people. */
  async check(people: readonly Uuid[]): Promise<Message[]> {
    const [lines, group] = await Promise.all([this.read(), this.#readMembers()]);
    const seated = [...this.#members].filter(([, { left }]) => !left);
    expect(sorted(seated.map(([number]) => number))).toEqual(sorted(this.#memberNumbers));
    expect(seated.flatMap(([number, { role }]) => (role === "owner" ? [number] : []))).toEqual([this.#owner]);
    expect(group.count).toBe(this.#memberNumbers.size);
    let wrong: { user: Uuid }[] = people.map((user) => ({ user }));
    await waitUntil(async () => {
      const found = await Promise.all(wrong.map(({ user }) => this.#findRowMismatch(user, group)));
      wrong = found.filter((one) => one !== undefined);
      return wrong.length === 0;
    }).catch(() => expect(wrong).toEqual([]));
    return lines;
  }

  /** Also checks stored data and data that only the objects have. */
  async checkStored(people: readonly Uuid[]): Promise<void> {
    await this.check(people);
    const [members, head] = [await readMembers(this.id), this.#log.length];
    for (const member of members) {
      const { number, role, read, delivered, hidden, joined } = member;
      const isSeated = ["in", "quiet", "quietLeaving"].includes(member.state);
      expect({ number, isSeated, role }).toEqual({
        number,
        isSeated: this.#memberNumbers.has(number),
        role: number === this.#owner ? "owner" : "member",
      });
      expect(member.version).toBeLessThanOrEqual(this.#membersVersion);
      expect(joined).toBeLessThanOrEqual(head);
      if (isSeated) {
        expect([joined, read, delivered, head]).toEqual(sorted([joined, read, delivered, head]));
        const first = member.kept === null ? joined : 0;
        expect([first, hidden, head]).toEqual(sorted([first, hidden, head]));
      }
      if (!people.includes(member.user_id)) continue;
      const row = await readStoredRow(member.user_id, this.id);
      const isIn = member.state === "in" ? 1 : 0;
      const isGone = !isIn && member.kept === null;
      expect(row).toMatchObject({ gone: isGone ? 1 : 0, open: isIn, turn: member.turn });
      if (!isIn) expect(row).toMatchObject({ unread: 0 });
      if (isGone) expect(row).toMatchObject({ preview: null });
      expect(["in", "out"]).toContain(member.state);
      if (isIn) await this.#checkReceipts(member, members);
    }
  }

  /**
   * Checks the ticks that an author's list shows: the delivery and read state of all others. A sole member keeps the
   * last state.
   */
  async #checkReceipts({ number, user_id }: StoredMember, members: readonly StoredMember[]): Promise<void> {
    const others = members.filter((other) => this.#memberNumbers.has(other.number) && other.number !== number);
    if (others.length === 0) return;
    const least = (which: "delivered" | "read") => Math.min(...others.map((other) => other[which]));
    const own = this.#log.filter(({ sender, body }) => sender === number && body.type !== "event");
    const ticks = (delivered: number, read: number) =>
      own.map(({ seq }) => toMessageStatus(seq, { delivered, read })).join(" ");
    let found = "";
    await waitUntil(async () => {
      const { rows } = await getUserChannelStub(env, user_id).listConversations(undefined);
      const { othersDelivered = 0, othersRead = 0 } = rows.find(({ conversation }) => conversation === this.id) ?? {};
      found = ticks(othersDelivered, othersRead);
      return found === ticks(least("delivered"), least("read"));
    }).catch(() => expect(found).toBe(ticks(least("delivered"), least("read"))));
  }

  async #readMembers(): Promise<Counts> {
    const since = this.#membersVersion;
    let first: Counts | undefined;
    for (let after: number | null = 0; after !== null; ) {
      const page: MemberEntries | Refusal = await this.conversation.listMembers(this.#witness, {
        since,
        after,
      });
      if (isRefusal(page)) throw new Error(page.error);
      for (const { number, user, role, left } of page.members) this.#members.set(number, { user, role, left });
      first ??= page;
      after = page.after;
    }
    this.#membersVersion = first?.roster ?? since;
    return first ?? { roster: since, count: 0 };
  }

  #replay(line: Message): void {
    const { seq, sender, at, body } = line;
    expect(seq).toBe(this.#log.length + 1);
    expect(at).toBeGreaterThanOrEqual(this.#log.at(-1)?.at ?? 0);
    const { event, who = [] } = body.type === "event" ? body : {};
    // The sender was a member at that time. When an owner leaves, the next line names the successor.
    const isSuccessorNamed = event === "owner" && sender === this.#leavingOwner;
    expect(this.#memberNumbers.has(sender) || isSuccessorNamed, `line ${seq} by ${sender}`).toBe(true);
    if (["added", "removed", "owner", "renamed"].includes(event ?? "")) expect(sender).toBe(this.#owner);
    this.#leavingOwner = event === "left" ? sender : undefined;
    for (const number of event === "left" ? [sender] : event === "removed" ? who : []) {
      expect(this.#memberNumbers.delete(number), `${event} ${number} in line ${seq}`).toBe(true);
      this.#formerMembers.add(number);
    }
    for (const number of event === "added" ? who : []) {
      expect(this.#memberNumbers.has(number), `added ${number} in line ${seq}`).toBe(false);
      this.#memberNumbers.add(number);
      if (!this.#formerMembers.has(number)) this.#joinedAt.set(number, this.#log.length);
    }
    if (event === "owner") this.#owner = who[0] ?? -1;
    expect(this.#memberNumbers.has(this.#owner) || this.#owner === this.#leavingOwner).toBe(true);
    this.#log.push(line);
  }

  /** Actual and expected row of a person, if they differ. */
  async #findRowMismatch(user: Uuid, { count, roster }: Counts): Promise<{ user: Uuid } | undefined> {
    const { rows } = await getUserChannelStub(env, user).listConversations(undefined);
    const row = rows.find(({ conversation }) => conversation === this.id);
    const [number = -1, seat] = [...this.#members].find(([, one]) => one.user === user) ?? [];
    if (!seat || seat.left)
      return row && (row.open || row.unread > 0) ? { user, ...{ found: row, expected: { open: false } } } : undefined;
    const hidden = Math.max(row?.hidden ?? 0, this.#joinedAt.get(number) ?? 0);
    const waits = (line: Message) => line.sender !== number && countsAsUnread(line);
    const { seq = 0, at = 0, sender = 0, body = null } = this.#log.at(-1) ?? {};
    const expected = {
      gone: false,
      open: true,
      head: seq,
      at,
      sender,
      preview: hidden < seq ? body : null,
      unread: this.#log.slice(Math.max(row?.read ?? 0, hidden)).filter(waits).length,
      hidden,
      group: { name: row?.group?.name, picture: null, count, roster, role: seat.role, number },
    };
    const found = row && Object.fromEntries(Object.keys(expected).map((key) => [key, row[key as keyof InboxRow]]));
    return JSON.stringify(found) === JSON.stringify(expected) ? undefined : { user, ...{ found, expected } };
  }
}
