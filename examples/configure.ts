import type { ExampleBackend } from './backends/json-backend.ts';

/** Puts a service and a route for each backend into a gateway; doing it twice changes nothing. */
export async function configure(adminUrl: string, backends: readonly ExampleBackend[]): Promise<void> {
  for (const backend of backends) {
    await put(adminUrl, `/services/${backend.name}`, { url: backend.url });
    await put(adminUrl, `/services/${backend.name}/routes/${backend.name}`, { paths: [`/${backend.name}`] });
  }
  await put(adminUrl, `/services/users/plugins/${corsId}`, { name: 'cors', config: { origins: ['*'] } });
}

/** A plugin has no name of its own, so its id is what makes the call repeatable. */
const corsId = 'a2b6e1d4-3c5f-4b7a-9d8e-0f1c2b3a4d5e';

async function put(adminUrl: string, path: string, body: unknown): Promise<void> {
  const response = await fetch(adminUrl + path, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`PUT ${path} was answered ${response.status}: ${text}`);
}
