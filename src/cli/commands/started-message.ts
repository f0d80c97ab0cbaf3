import { isIPv6 } from 'node:net';
import type { BoundAddress, BoundStreamAddress, GatewayAddresses } from '../../boot/listeners/gateway-addresses.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { version } from '../../version.ts';

/** The lines that are printed when the node is up: the addresses, and a first command to try. */
export function startedMessage(settings: Settings, addresses: GatewayAddresses): readonly string[] {
  const lines = [`Sluicegate ${version} started (${kindOf(settings).join(', ')}, prefix ${settings.prefix})`];
  const names = listenersOf(settings);
  const width = Math.max(...names.map(({ length }) => length), 'status'.length);
  for (const name of names) {
    const urls = addresses[name].map(name === 'cluster' ? linkOf : urlOf);
    const path = pathOf(settings, name);
    lines.push(`  ${name.padEnd(width)}  ${urls.length === 0 ? 'off' : urls.map((url) => `${url}${path}`).join('  ')}`);
  }
  if (addresses.stream.length > 0)
    lines.splice(2, 0, `  ${'stream'.padEnd(width)}  ${addresses.stream.map(streamText).join('  ')}`);
  const [admin] = addresses.admin;
  if (admin !== undefined) lines.push('Try:', `  ${firstCommand(settings, admin)}`);
  return lines;
}

function kindOf({ role, workers, database }: Settings): readonly string[] {
  const threads = `${workers} ${workers === 1 ? 'worker' : 'workers'}`;
  switch (role) {
    case 'traditional':
      return [threads, database];
    case 'control_plane':
      return ['control plane', database];
    case 'data_plane':
      return ['data plane', threads];
  }
}

type Listener = Exclude<keyof GatewayAddresses, 'stream'>;

function listenersOf({ role, portalListen }: Settings): readonly Listener[] {
  // Most nodes have none.
  const portal: readonly Listener[] = portalListen.length === 0 ? [] : ['portal'];
  switch (role) {
    case 'traditional':
      return ['proxy', 'admin', 'dashboard', ...portal, 'status'];
    case 'control_plane':
      return ['cluster', 'admin', 'dashboard', ...portal, 'status'];
    case 'data_plane':
      return ['proxy', 'status'];
  }
}

/** Where the page is, below the address. */
function pathOf({ adminGuiPath }: Settings, name: Listener): string {
  if (name === 'portal') return '/portal/';
  return name === 'dashboard' ? adminGuiPath.replace(/\/$/, '') : '';
}

function firstCommand({ adminToken, database }: Settings, admin: BoundAddress): string {
  const token = adminToken === null ? '' : '-H "Authorization: Bearer $SLUICEGATE_ADMIN_TOKEN" ';
  if (database === 'off') return `curl -i ${token}${urlOf(admin)}/config -F config=@kong.yml`;
  return `curl -i -X POST ${token}${urlOf(admin)}/services -d name=example -d url=http://127.0.0.1:9001`;
}

function urlOf(address: BoundAddress): string {
  return `${address.ssl ? 'https' : 'http'}://${hostAndPort(address)}`;
}

/** WebSocket over TLS. */
function linkOf(address: BoundAddress): string {
  return `wss://${hostAndPort(address)}`;
}

function streamText(address: BoundStreamAddress): string {
  return `${address.udp ? 'udp' : address.ssl ? 'tls' : 'tcp'}://${hostAndPort(address)}`;
}

/** An address of all interfaces is shown as `localhost`, which can be opened. */
function hostAndPort({ ip, port }: BoundAddress): string {
  const host = ip === '0.0.0.0' || ip === '::' ? 'localhost' : ip;
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
