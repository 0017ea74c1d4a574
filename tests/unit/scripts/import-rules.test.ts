// Covers: scripts/check/import-rules.mjs
import { expect, test } from "vitest";
import { findUrlViolation, findViolation } from "#scripts/check/import-rules.mjs";

test.each([
  ["worker/calls/routes.ts", "worker/lib/log.ts"],
  ["worker/contacts/routes.ts", "worker/people/queries.ts"], // a public module of an earlier feature
  ["src/app/app.tsx", "src/features/chat/private-chat.tsx"],
  ["src/features/chat/list/message-list.tsx", "src/features/chat/message/bubble.tsx"],
  ["worker/service/app-document/serve.ts", "src/first-view/list-view.ts"],
  ["contract/auth/auth.ts", "valibot"],
])("%s may import %s", (from, to) => {
  expect(findViolation(from, to)).toBeUndefined();
});

test.each([
  ["contract/groups.ts", "dexie"],
  ["contract/ids.ts", "contract/wire/commands.ts"],
  ["src/sync/engine/engine.ts", "worker/lib/log.ts"],
  ["worker/lib/log.ts", "worker/objects/stubs.ts"],
  ["worker/people/routes.ts", "worker/contacts/queries.ts"], // a later feature
  ["worker/contacts/routes.ts", "worker/people/routes.ts"],
  ["src/features/chat/private-chat.tsx", "src/features/groups/group-page.tsx"],
  ["src/sync/store/database.ts", "src/sync/sending/outbox.ts"],
  ["worker/objects/conversation/log/member-table.ts", "worker/objects/user-channel/migrations.ts"],
  ["worker/index.ts", "tests/support/eventually.ts"],
])("%s may not import %s", (from, to) => {
  expect(findViolation(from, to)).toBeTypeOf("string");
});

test("a path in new URL is relative and leads to a file", () => {
  expect(findUrlViolation("../network/gateway.mjs", true)).toBeUndefined();
  expect(findUrlViolation("../network/moved.mjs", false)).toBeTypeOf("string");
  expect(findUrlViolation("#lab/network/gateway.mjs", true)).toBeTypeOf("string"); // the file's own address exists
});
