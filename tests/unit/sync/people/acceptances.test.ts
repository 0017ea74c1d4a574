import { describe, expect, it } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { listAcceptedRequests, readRequestSnapshot } from "#sync/hooks/use-acceptances.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { getContext } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const makeRow = (username: string, state: PersonRow["state"]): PersonRow => ({
  id: createUuid(),
  username,
  phone: "",
  avatar: null,
  createdAt: 0,
  state,
  requestId: null,
  connectionId: null,
  since: 0,
  blocked: 0,
});

describe("accepted requests", () => {
  it("notify the requester, once, of acceptances since, and not of refusals, own acceptances or earlier contacts", async () => {
    const { server, amina } = makePair();
    const { store } = getContext(await makeDevice(server, amina).openTab());
    const [yes, no, waits] = [makeRow("Yes", "sent"), makeRow("No", "sent"), makeRow("Waits", "sent")];
    const [theirs, before] = [makeRow("Theirs", "received"), makeRow("Before", "contact")];
    await store.people.bulkPut([yes, no, waits, theirs, before]);
    const asked = await readRequestSnapshot(store);
    await store.people.bulkPut([
      { ...yes, state: "contact" },
      { ...no, state: "none" },
      { ...theirs, state: "contact" },
    ]);
    const now = await readRequestSnapshot(store);
    expect(listAcceptedRequests(asked, now).map(({ username }) => username)).toEqual(["Yes"]);
    expect(listAcceptedRequests(now, await readRequestSnapshot(store))).toEqual([]);
  });
});
