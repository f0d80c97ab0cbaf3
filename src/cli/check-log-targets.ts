import { openDevice } from '../observability/log-device.ts';
import type { Settings } from '../settings/settings.ts';
import { CliError } from './cli-error.ts';

/** A running node drops what it cannot log and goes on; a start is the time to say that a log cannot be written at all. */
export function checkLogTargets(settings: Settings): void {
  const targets = {
    proxy_access_log: settings.proxyAccessLog,
    proxy_error_log: settings.proxyErrorLog,
    proxy_stream_access_log: settings.proxyStreamAccessLog,
    admin_access_log: settings.adminAccessLog,
    status_access_log: settings.statusAccessLog,
    admin_error_log: settings.adminErrorLog,
  };
  for (const [name, target] of Object.entries(targets)) {
    if (target === 'off' || target === '/dev/stdout' || target === '/dev/stderr') continue;
    try {
      openDevice(target).close();
    } catch (error) {
      // A named pipe whose reader is not there yet.
      if (error instanceof Error && 'code' in error && error.code === 'ENXIO') continue;
      throw new CliError(`${name}: cannot write ${target}: ${error instanceof Error ? error.message : error}`);
    }
  }
}
