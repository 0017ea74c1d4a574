export default function ChatScreen() {
  return null;
}
