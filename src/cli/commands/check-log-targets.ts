import { openDevice } from '../../shared/logs/log-device.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { CliError } from '../cli-error.ts';

/** A running node drops lines that it cannot write and continues, so a log that cannot be written at all is reported at start. */
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
      // A named pipe that has no reader yet.
      if (error instanceof Error && 'code' in error && error.code === 'ENXIO') continue;
      throw new CliError(`${name}: cannot write ${target}: ${error instanceof Error ? error.message : error}`);
    }
  }
}
