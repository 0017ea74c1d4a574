import { expect, type Locator } from "@playwright/test";
import { fill, type TestClient, type Texts } from "#tests/support/browser/test-client.ts";
import { type LogLine, readLocalLog } from "#tests/support/server/logs.ts";
import { connectPeople, makePerson, type Person, type Site } from "./people.ts";

/** Makes people with numbers from `n`; the first is a contact of all others. */
export const makeFriends = async (site: Site, n: number, count: number): Promise<Person[]> => {
  const people: Person[] = [];
  for (let i = 0; i < count; i++) people.push(await makePerson(site, n + i));
  const [hub, ...others] = people;
  for (const other of others) if (hub) await connectPeople(site, hub, other);
  return people;
};

/** System message of a group, in the language of this client. */
export const eventLine = (
  { page, texts }: TestClient,
  event: keyof Texts["groups"]["events"],
  values: Record<string, string> = {},
): Locator =>
  page.getByRole("main").getByRole("listitem").getByText(fill(texts.groups.events[event], values), { exact: true });

/** Checks that all clients hold the same messages from `from` to `to` without a gap, and returns them. */
export const expectSameLogs = async (
  phones: readonly Pick<TestClient, "page">[],
  conversation: string,
  from: number,
  to: number,
): Promise<LogLine[]> => {
  const seqs = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const logs: LogLine[][] = [];
  for (const { page } of phones) {
    await expect
      .poll(async () => (await readLocalLog(page, conversation)).map(({ seq }) => seq), { timeout: 30_000 })
      .toEqual(seqs);
    logs.push(await readLocalLog(page, conversation));
  }
  for (const log of logs) expect(log).toEqual(logs[0]);
  return logs[0] ?? [];
};
