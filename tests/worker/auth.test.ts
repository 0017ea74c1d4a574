import { expect, test } from "vitest";
import { call, newPerson } from "./site";

test("a person who signed up is signed in", async () => {
  const person = await newPerson();
  const { status, body } = await call("GET", "/api/auth/user", { token: person.token });
  expect(status).toBe(200);
  expect(body).toMatchObject({ id: person.id, phone: person.phone, user_metadata: { username: person.username } });
});
