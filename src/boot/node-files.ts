import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import type { GatewayAddresses } from '../gateway.ts';
import { addressesFileOf, debugTokenFileOf } from '../settings/prefix.ts';
import type { ListenAddress, Settings } from '../settings/settings.ts';
import { withFile } from '../util/file-error.ts';

/**
 * The debug token of the node: the setting, or a random one that is left in the prefix, where only the owner can read it; null
 * while `request_debug` is off. A file of an earlier start goes.
 */
export function debugTokenOf({ prefix, requestDebug, requestDebugToken }: Settings): string | null {
  const path = debugTokenFileOf(prefix);
  rmSync(path, { force: true });
  if (!requestDebug) return null;
  if (requestDebugToken !== null) return requestDebugToken;
  const token = randomBytes(32).toString('base64url');
  writeOwned(path, `${token}\n`);
  return token;
}

/** Leaves in the prefix where the node listens: commands find it by that, also where it chose its ports itself. */
export function writeAddresses({ prefix, proxyListen, statusListen }: Settings, addresses: GatewayAddresses): void {
  const shown = ({ ip, port, ssl, proxyProtocol }: ListenAddress) => ({ ip, port, ssl, proxyProtocol });
  const [proxy, status] = [proxyListen.map(shown), statusListen.map(shown)];
  writeOwned(addressesFileOf(prefix), `${JSON.stringify({ ...addresses, proxy, status })}\n`);
}

/** A file that only its owner can read, from its first moment on. */
function writeOwned(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  withFile('cannot write', path, () => {
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  });
}
