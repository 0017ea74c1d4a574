import type { Group } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { groupTypingMax } from "#contract/limits.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { Telling } from "#worker/objects/conversation/delivery/notifier.ts";
import type { GroupDeed, GroupDone, Seats } from "#worker/objects/rpc.ts";
import { carryOut, isDone } from "./group-commands.ts";
import { describe, type GroupLog, isGroup, readSeats, standOfGroup } from "./group-view.ts";

export const noGroup: Refusal = { error: "group_not_found" };

/** The group that a conversation is, ended or not: what its members make of it, what they read of it, and who is told. */
export class Grouping {
  readonly #log: GroupLog;
  readonly #telling: Pick<Telling, "changed" | "to" | "known" | "typing">;

  constructor(log: GroupLog, telling: Pick<Telling, "changed" | "to" | "known" | "typing">) {
    this.#log = log;
    this.#telling = telling;
  }

  /** It was made, now or before, by this owner: refused where that was another. */
  async made(owner: Uuid, isNew: boolean): Promise<GroupDone | Refusal> {
    const log = this.#log;
    const member = log.members.of(owner);
    if (!isGroup(log) || member?.number !== 0) return { error: "group_exists" };
    if (isNew) this.#telling.changed(log, member);
    else this.#telling.to([member], true);
    await this.#telling.known(member);
    return standOfGroup(log);
  }

  async change(user: Uuid, deed: GroupDeed): Promise<GroupDone | Refusal> {
    const log = this.#log;
    const member = log.members.known(user);
    if (!member) return noGroup;
    if (isDone(log, member, deed)) return standOfGroup(log);
    if (!isGroup(log) || member.state !== "in") return noGroup;
    const { roster } = log.group;
    const unaware = log.members.seated.filter(({ state }) => state !== "in");
    const done = log.transaction(() => carryOut(log, member, deed, Date.now()));
    if (isRefusal(done)) return done;
    const isChanged = done.roster !== roster;
    if (isChanged) this.#telling.changed(log, member);
    this.#telling.to(
      unaware.filter(({ state }) => state === "in"),
      true,
    );
    if (isChanged) await this.#telling.known(member);
    return done;
  }

  describe(user: Uuid): Group | Refusal {
    const member = this.#log.members.of(user);
    return isGroup(this.#log) && member ? describe(this.#log, member) : noGroup;
  }

  seats(user: Uuid, query: Parameters<typeof readSeats>[2]): Seats | Refusal {
    const reader = this.#log.members.of(user);
    return isGroup(this.#log) && reader ? readSeats(this.#log, reader, query) : noGroup;
  }

  typing(user: Uuid): void {
    const log = this.#log;
    const member = log.members.of(user);
    if (!isGroup(log) || !member || log.members.seated.length > groupTypingMax) return;
    const others = log.members.present.filter((other) => other !== member);
    this.#telling.typing(log, member, others);
  }
}
