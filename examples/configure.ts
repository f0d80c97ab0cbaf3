import type { ExampleBackend } from './backends/json-backend.ts';
import type { ExampleGateway } from './find-gateway.ts';

/** Marks what the example made: it changes nothing else. */
const tag = 'sluicegate-example';

/** A plugin has no name of its own, so its id is what makes the call repeatable. */
const corsId = 'a2b6e1d4-3c5f-4b7a-9d8e-0f1c2b3a4d5e';

/**
 * Puts a service and a route for each backend into a gateway; doing it twice changes nothing. Throws before it writes
 * anything when a name is taken by something that it did not make.
 */
export async function configure(
  gateway: Pick<ExampleGateway, 'adminUrl' | 'token'>,
  backends: readonly ExampleBackend[],
): Promise<void> {
  const taken: string[] = [];
  for (const { name } of backends) {
    for (const path of [`/services/${name}`, `/routes/${name}`]) {
      const found = await ask(gateway, 'GET', path);
      const tags = found?.['tags'];
      if (found !== null && !(Array.isArray(tags) && tags.includes(tag))) taken.push(path);
    }
  }
  if (taken.length > 0) {
    throw new Error(
      `the gateway already has ${taken.join(', ')}, not created by this example; nothing was changed.\n` +
        'Delete them, or run the example with a gateway of its own:\n' +
        '  SLUICEGATE_PREFIX=.sluicegate/example SLUICEGATE_PROXY_LISTEN=127.0.0.1:0 SLUICEGATE_ADMIN_LISTEN=127.0.0.1:0 ' +
        'SLUICEGATE_STATUS_LISTEN=off npm run example',
    );
  }
  for (const { name, url } of backends) {
    await ask(gateway, 'PUT', `/services/${name}`, { url, tags: [tag] });
    await ask(gateway, 'PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`], tags: [tag] });
  }
  await ask(gateway, 'PUT', `/services/users/plugins/${corsId}`, {
    name: 'cors',
    config: { origins: ['*'] },
    tags: [tag],
  });
}

/** Null: there is no such entity. */
async function ask(
  { adminUrl, token }: Pick<ExampleGateway, 'adminUrl' | 'token'>,
  method: 'GET' | 'PUT',
  path: string,
  body?: unknown,
): Promise<Readonly<Record<string, unknown>> | null> {
  const response = await fetch(adminUrl + path, {
    method,
    signal: AbortSignal.timeout(30_000),
    headers: {
      'Content-Type': 'application/json',
      ...(token !== null && { Authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status === 404 && method === 'GET') return null;
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
  return JSON.parse(text);
}
