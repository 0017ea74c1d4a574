import { expect, test } from "vitest";
import type { Relation } from "../../contract/people";
import { call, newPerson } from "./site";

const ask = (from: { token: string }, to: { id: string }) =>
  call("POST", "/api/requests", { token: from.token, body: { to_user_id: to.id } });
const accept = (by: { token: string }, request: string | null) =>
  call("POST", `/api/requests/${request}/accept`, { token: by.token });

test("a request that is accepted makes two contacts", async () => {
  const [ana, ben] = [await newPerson(), await newPerson()];
  const asked = await ask(ana, ben);
  expect(asked).toMatchObject({ status: 200, body: { state: "sent", profile: { id: ben.id } } });
  const accepted = await accept(ben, (asked.body as Relation).request_id);
  expect(accepted).toMatchObject({ status: 200, body: { state: "contact", profile: { id: ana.id } } });
  for (const [me, other] of [
    [ana, ben],
    [ben, ana],
  ] as const) {
    const { body } = await call("GET", "/api/contacts", { token: me.token });
    expect(body).toMatchObject({ contacts: [{ id: other.id, phone: other.phone }], after: null });
  }
});
