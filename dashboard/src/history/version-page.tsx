export function VersionPage() {
  return <h1>Version</h1>;
}
