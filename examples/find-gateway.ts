import { boundListeners, urlOfListener } from '../src/cli/node/node-addresses.ts';
import { runningNode } from '../src/cli/node/pid-file.ts';
import type { Settings } from '../src/shared/settings/settings.ts';

/** Where the example talks to a gateway. */
export interface ExampleGateway {
  readonly adminUrl: string;
  readonly proxyUrl: string;
  readonly token: string | null;
}

/** The node that runs in the prefix, wherever its listeners are; null: none runs, or it does not listen yet. */
export function findGateway({ prefix, adminToken }: Pick<Settings, 'prefix' | 'adminToken'>): ExampleGateway | null {
  if (runningNode(prefix) === null) return null;
  const admin = plainUrl(prefix, 'admin');
  const proxy = plainUrl(prefix, 'proxy');
  return admin === null || proxy === null ? null : { adminUrl: admin, proxyUrl: proxy, token: adminToken };
}

function plainUrl(prefix: string, kind: 'admin' | 'proxy'): string | null {
  const listener = boundListeners(prefix, kind)?.find(({ ssl, proxyProtocol }) => !ssl && !proxyProtocol);
  return listener === undefined ? null : urlOfListener(listener);
}
