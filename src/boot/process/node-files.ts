import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { addressesFileOf, debugTokenFileOf } from '../../shared/settings/kinds/prefix.ts';
import type { ListenAddress, Settings } from '../../shared/settings/settings.ts';
import { withFile } from '../../shared/util/files/file-error.ts';
import type { GatewayAddresses } from '../listeners/gateway-addresses.ts';

/**
 * The debug token of the node: the setting, or a random one that is written to the prefix, where only the owner can read it; null
 * while `request_debug` is off. Removes the file of an earlier start. `before`: that of a process that this one replaces.
 */
export function debugTokenOf(
  { prefix, requestDebug, requestDebugToken }: Settings,
  before: string | null = null,
): string | null {
  const path = debugTokenFileOf(prefix);
  rmSync(path, { force: true });
  if (!requestDebug) return null;
  if (requestDebugToken !== null) return requestDebugToken;
  const token = before ?? randomBytes(32).toString('base64url');
  writeOwned(path, `${token}\n`);
  return token;
}

/** Writes the addresses of the node to the prefix, so that commands find it, also where the system chose the ports. */
export function writeAddresses({ prefix, proxyListen, statusListen }: Settings, addresses: GatewayAddresses): void {
  const shown = ({ ip, port, ssl, proxyProtocol }: ListenAddress) => ({ ip, port, ssl, proxyProtocol });
  const [proxy, status] = [proxyListen.map(shown), statusListen.map(shown)];
  writeOwned(addressesFileOf(prefix), `${JSON.stringify({ ...addresses, proxy, status })}\n`);
}

/** Writes a file that only its owner can read, from the moment that it exists. */
function writeOwned(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  withFile('cannot write', path, () => {
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  });
}
