export function TrafficPage() {
  return <h1>Traffic</h1>;
}
