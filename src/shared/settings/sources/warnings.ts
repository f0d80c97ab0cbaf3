import { isLoopback } from '../../util/net/loopback.ts';
import type { Settings } from '../settings.ts';

/** Settings that are valid but deserve a warning at start. */
export function settingsWarnings(settings: Settings): readonly string[] {
  return [
    ...adminWarnings(settings),
    ...debugWarnings(settings),
    ...declarativeWarnings(settings),
    ...trafficWarnings(settings),
  ];
}

/** Minimum length of a token that cannot be guessed. */
const minTokenLength = 16;

function debugWarnings({ requestDebug, requestDebugToken: token }: Settings): readonly string[] {
  if (!requestDebug || token === null || token.length >= minTokenLength) return [];
  return [
    `request_debug_token is shorter than ${minTokenLength} characters: anyone who guesses it can see how requests are handled`,
  ];
}

function declarativeWarnings({ role, database, declarative: { file, text } }: Settings): readonly string[] {
  if (file === null && text === null) return [];
  const name = file !== null ? 'declarative_config' : 'declarative_config_string';
  if (role === 'data_plane')
    return [`${name} has no effect on a data plane, which has its config from a control plane`];
  if (database === 'off') return [];
  return [`${name} has no effect with database = ${database}; set database = off to use it`];
}

function trafficWarnings({ role, traffic }: Settings): readonly string[] {
  if (role === 'traditional' || traffic.records === 0) return [];
  const reason = role === 'control_plane' ? 'carries no traffic' : 'has no Admin API to show it';
  return [`traffic_recorder has no effect on a ${role.replace('_', ' ')}, which ${reason}`];
}

function adminWarnings(settings: Settings): readonly string[] {
  const listeners = { admin_listen: settings.adminListen, admin_gui_listen: settings.adminGuiListen };
  const reachable = Object.entries(listeners).map(([name, addresses]) => {
    return { name, addresses: addresses.filter(({ ip }) => !isLoopback(ip)) };
  });
  const wide = reachable.flatMap(({ addresses }) => addresses);
  if (wide.length === 0 || settings.adminToken !== null || settings.adminAuth === 'on') return [];
  // A client without a certificate cannot connect.
  if (settings.adminClientCa.length > 0 && !settings.adminClientOptional && wide.every(({ ssl }) => ssl)) return [];
  const places = wide.map((address) => `${address.ip.includes(':') ? `[${address.ip}]` : address.ip}:${address.port}`);
  return [
    `the Admin API listens on ${places.join(', ')} without a token: unless there are admin users, anyone who can reach it controls the ` +
      'gateway; set SLUICEGATE_ADMIN_TOKEN or SLUICEGATE_ADMIN_AUTH=on, or bind ' +
      `${reachable.flatMap(({ name, addresses }) => (addresses.length === 0 ? [] : [name])).join(' and ')} to 127.0.0.1`,
  ];
}
