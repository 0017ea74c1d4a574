import { type ConversationId, otherMember, type Uuid } from "#contract/ids.ts";
import { toAudienceFor } from "#worker/lib/exceptions.ts";
import { readLimitFactor } from "#worker/lib/limits/local-limits.ts";
import { logError } from "#worker/lib/log.ts";
import { readRestoreGeneration } from "#worker/objects/shared/epochs.ts";
import { KeyValues } from "#worker/objects/shared/key-values.ts";
import { AccountDeletionJob } from "./account-deletion.ts";
import { CallCommands } from "./calls/call-commands.ts";
import { CallRegistry } from "./calls/call-registry.ts";
import { CommandRouter } from "./commands/command-router.ts";
import { ConversationReader } from "./commands/conversation-commands.ts";
import { ConversationGateway } from "./commands/conversation-gateway.ts";
import { DraftCommands } from "./commands/draft-commands.ts";
import { FlagCommands } from "./commands/flag-commands.ts";
import { MessageDeletions } from "./commands/message-deletions.ts";
import { MessageEdits } from "./commands/message-edits.ts";
import { MessageFlagCommands } from "./commands/message-flag-commands.ts";
import { PinCommands } from "./commands/pin-commands.ts";
import { ReactionCommands } from "./commands/reaction-commands.ts";
import { ReceiptCommands } from "./commands/receipt-commands.ts";
import { SearchCommands } from "./commands/search-commands.ts";
import { MessageDispatcher } from "./commands/send-messages.ts";
import { FrameHandler } from "./frames/frame-handler.ts";
import { FrameLimits } from "./frames/frame-limits.ts";
import { FrameReader } from "./frames/frame-reader.ts";
import { FrameRouter } from "./frames/frame-router.ts";
import { InboxFeed } from "./inbox/inbox-feed.ts";
import { PresenceTracker } from "./presence/presence.ts";
import { TypingRelay } from "./presence/typing.ts";
import { PushNotifications } from "./push/push-notifications.ts";
import { SessionCheck } from "./sockets/session-check.ts";
import type { SocketRegistry } from "./sockets/socket-registry.ts";

type PartsOptions = {
  ctx: DurableObjectState;
  env: Env;
  sockets: SocketRegistry;
  closeSession: (session: Uuid) => Promise<void>;
  abortSockets: () => void;
};

/** Parts of a person's channel that the object itself uses. */
export type UserChannelParts = {
  inbox: InboxFeed;
  commands: CommandRouter;
  drafts: DraftCommands;
  search: SearchCommands;
  callRegistry: CallRegistry;
  callCommands: CallCommands;
  typing: TypingRelay;
  presence: PresenceTracker;
  push: PushNotifications;
  accountDeletion: AccountDeletionJob;
  frameLimits: FrameLimits;
  frameReader: FrameReader;
  frameRouter: FrameRouter;
  sessionCheck: SessionCheck;
};

/** Creates the parts of a person's channel and connects them with each other. */
export function createParts({ ctx, env, sockets, closeSession, abortSockets }: PartsOptions): UserChannelParts {
  const user = ctx.id.name ?? "";
  const meta = new KeyValues(ctx.storage.sql);
  const factor = readLimitFactor(env);
  const createBackgroundRunner = (failure: string) => (work: Promise<unknown>) =>
    ctx.waitUntil(work.catch((error: unknown) => logError(failure, error)));

  const generation = readRestoreGeneration(env, user);
  const inbox = new InboxFeed(
    { ctx, meta, sockets, generation },
    {
      onCountInDoubt: (conversation) => accountDeletion.isGone || receipts.recount(conversation),
      onNewMessages: (...args) => push.handleNewMessages(...args),
      onDeletions: (...args) => push.deletions.handleDeletions(...args),
      onRead: (...args) => push.reads.handleRead(...args),
      onUnmuted: (entry) => push.messages.handleUnmuted(entry),
      onFlush: () => push.messages.handleFlush(),
    },
  );
  const isAwaitingHello = (socket: WebSocket) => frameReader.isAwaitingHello(socket);
  const frameLimits = new FrameLimits({ factor, meta, isAwaitingHello, abortSockets });
  const gateway = new ConversationGateway(env, user, (id) => inbox.find(id) !== undefined);
  const typing = new TypingRelay({ env, user, inbox, sockets });
  const presence = new PresenceTracker({ env, user, meta, inbox, sockets });
  const onMessage = (conversation: ConversationId) => typing.reset(conversation);
  const dispatcher = new MessageDispatcher({ env, user, gateway, inbox, meta, factor, onMessage });

  const acceptsCalls = (conversation: ConversationId) =>
    toAudienceFor(inbox.settings, "callsFrom", otherMember(conversation, user) ?? user) !== "nobody";
  const runInBackground = createBackgroundRunner("background work of a call failed");
  const callPorts = { env, user, gateway, sockets, acceptsCalls, runInBackground, push: () => push.calls };
  const callRegistry = new CallRegistry(ctx.storage.sql, callPorts);
  const callCommands = new CallCommands(ctx.storage.sql, callRegistry, callPorts);
  const push = new PushNotifications({ ctx, env, user, meta, inbox, sockets, callRegistry });

  const close = () => {
    inbox.close();
    presence.close();
    sockets.closeSessions("all");
    push.removeSubscriptions("all");
  };
  const accountDeletion = new AccountDeletionJob({ ctx, env, user, close });

  const recountInBackground = createBackgroundRunner("unread count failed");
  const receipts = new ReceiptCommands({ factor, user, inbox, gateway, meta, runInBackground: recountInBackground });
  const drafts = new DraftCommands({ inbox, meta });
  const search = new SearchCommands(user, gateway, inbox);
  const commands = new CommandRouter({
    inbox,
    dispatcher,
    receipts,
    flags: new FlagCommands(inbox, factor),
    messageFlags: new MessageFlagCommands({ user, inbox, gateway, factor }),
    drafts,
    deletions: new MessageDeletions(user, gateway, factor),
    edits: new MessageEdits(user, gateway, factor),
    reactions: new ReactionCommands(user, gateway, factor),
    pins: new PinCommands(user, gateway, factor),
    reader: new ConversationReader(user, gateway, inbox),
    search,
    presence,
    calls: callCommands,
    callRegistry,
    accountDeletion,
  });

  const handler = new FrameHandler({ sockets, inbox, dispatcher, commands });
  const frameRouter = new FrameRouter({ sockets, inbox, typing, presence, push, commands, handler, ctx });
  const sessionCheck = new SessionCheck({ env, closeSession });
  const frameReader = new FrameReader({ sockets, limits: frameLimits, handler });
  return {
    inbox,
    commands,
    drafts,
    search,
    callRegistry,
    callCommands,
    typing,
    presence,
    push,
    accountDeletion,
    frameLimits,
    frameReader,
    frameRouter,
    sessionCheck,
  };
}
