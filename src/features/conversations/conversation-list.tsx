/** The live list of conversations: the whole of /app on a phone, the left pane beside a chat on a wide screen. */
export function ConversationList() {
  return null;
}
