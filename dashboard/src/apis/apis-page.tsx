export function ApisPage() {
  return <h1>APIs</h1>;
}
