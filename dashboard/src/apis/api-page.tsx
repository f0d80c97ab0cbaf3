export function ApiPage() {
  return <h1>API</h1>;
}
