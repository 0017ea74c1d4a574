import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { Relation } from "#contract/people.ts";
import type { Settings, VersionedSettings } from "#contract/settings/settings.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import type { ChangeSequence } from "./change-sequence.ts";
import type { RelationTable } from "./contacts-table.ts";
import { toSecurityNoticePush, toUniformPush } from "./push-builders.ts";
import { SecurityNotices } from "./security-notices.ts";
import { SettingsCopy } from "./settings-copy.ts";

/**
 * Copies of what the directory knows of a person: settings, relations and security notices. Each change is pushed to
 * all sockets under the next number of the change counter and written under that number.
 */
export class AccountChanges {
  readonly #storage: DurableObjectStorage;
  readonly #relations: RelationTable;
  readonly #settings: SettingsCopy;
  readonly #securityNotices: SecurityNotices;

  constructor(storage: DurableObjectStorage, meta: KeyValues, relations: RelationTable) {
    this.#storage = storage;
    this.#relations = relations;
    this.#settings = new SettingsCopy(meta);
    this.#securityNotices = new SecurityNotices(meta);
  }

  /** Number of the last change that is not a row of a table. */
  get changed(): number {
    return Math.max(this.#settings.changed, this.#securityNotices.changed);
  }

  get settings(): Settings {
    return this.#settings.current;
  }

  /** Settings and security notices after a cursor, for a device of this session. */
  readSince(counter: number, session: string | undefined, now: number) {
    const settings = this.#settings.findChangedSince(counter);
    return { settings, notices: this.#securityNotices.listSince(counter, session, now) };
  }

  updateRelations(sequence: ChangeSequence, relations: readonly Relation[]): void {
    const newRelations = relations.filter((relation) => !this.#relations.isKnown(relation));
    const first = sequence.next;
    sequence.pushChanges(
      newRelations.map((relation) => toUniformPush((counter) => ({ type: "person", counter, relation }))),
    );
    this.#storage.transactionSync(() => {
      for (const [index, relation] of newRelations.entries()) this.#relations.write(relation, first + index);
    });
  }

  updateSettings(sequence: ChangeSequence, settings: VersionedSettings): void {
    if (!this.#settings.isNewer(settings)) return;
    this.#settings.write(settings, sequence.next);
    sequence.pushChanges([toUniformPush((counter) => ({ type: "settings", counter, kept: settings }))]);
  }

  /** Stores and pushes a security notice. Returns false if it is known. */
  addSecurityNotice(sequence: ChangeSequence, notice: SecurityNotice): boolean {
    if (!this.#securityNotices.isNew(notice)) return false;
    this.#securityNotices.write(notice, sequence.next);
    sequence.pushChanges([toSecurityNoticePush(notice)]);
    return true;
  }
}
