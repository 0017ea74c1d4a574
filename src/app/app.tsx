export function App() {
  return (
    <main>
      <h1>Lisolo</h1>
    </main>
  );
}
