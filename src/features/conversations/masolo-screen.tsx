import { ConversationList } from "./conversation-list";

export default function MasoloScreen() {
  return <ConversationList />;
}
