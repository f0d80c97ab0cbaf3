import type { AccessEntry, AdminLog } from '../../control/admin/admin-log.ts';
import type { LogLevelControl } from '../../control/admin/temporary-log-level.ts';
import { LogProblems } from '../../control/overview/log-problems.ts';
import { createErrorLog, type ErrorLog, type ErrorLogOptions } from '../../shared/logs/error-log.ts';
import type { LogReceiver } from '../../shared/logs/log-receiver.ts';
import { type LogSink, openLogSink } from '../../shared/logs/log-sink.ts';
import { createReceivedLog } from '../../shared/logs/received-log.ts';
import type { LogFormat } from '../../shared/settings/kinds/log-format.ts';
import type { LogLevel, Settings } from '../../shared/settings/settings.ts';
import { adminFormatter } from './admin-access-log.ts';

/** The logs that the control plane writes. */
export interface NodeLogs {
  /** Lines of the control plane. */
  readonly node: ErrorLog;
  /** Lines of the workers. */
  readonly proxy: ErrorLog;
  readonly admin: AdminLog;
  readonly problems: LogProblems;
  level(onChange: (level: LogLevel) => void): LogLevelControl;
  /** Lines that could not be written. */
  readonly dropped: number;
  reopen(): void;
  close(): Promise<void>;
}

/** `receiver`: receives the lines of the control plane and of the workers instead of the targets in the settings; null: nobody does. */
export function openNodeLogs(settings: Settings, receiver: LogReceiver | null = null): NodeLogs {
  const { logLevel: level, logFormat: format } = settings;
  const problems = new LogProblems();
  const observe: ErrorLogOptions['observe'] = (severity, message, fields) => problems.note(severity, message, fields);
  const node =
    receiver === null
      ? createErrorLog({ target: settings.adminErrorLog, level, format, observe })
      : createReceivedLog({ receiver, level, observe });
  const shared = receiver !== null || settings.proxyErrorLog === settings.adminErrorLog;
  const proxy = shared ? node : createErrorLog({ target: settings.proxyErrorLog, level, format, observe });
  const access = openLogSink(settings.adminAccessLog, { bytes: true });
  const statusAccess = openLogSink(settings.statusAccessLog, { bytes: true });
  return {
    node,
    proxy,
    admin: {
      access: accessWriter(access, settings.accessLogFormats.admin),
      statusAccess: accessWriter(statusAccess, settings.accessLogFormats.status),
      error: (message, cause) => node.error(message, { err: cause }),
      warn: (message, fields) => node.warn(message, fields),
    },
    problems,
    level: (onChange) => ({
      get: () => node.level,
      set(next) {
        node.setLevel(next);
        proxy.setLevel(next);
        onChange(next);
      },
    }),
    get dropped() {
      return node.dropped + (shared ? 0 : proxy.dropped) + access.dropped + statusAccess.dropped;
    },
    reopen() {
      node.reopen();
      if (!shared) proxy.reopen();
      access.reopen();
      statusAccess.reopen();
    },
    async close() {
      await Promise.all([node.close(), shared ? undefined : proxy.close(), access.close(), statusAccess.close()]);
    },
  };
}

function accessWriter(sink: LogSink, format: LogFormat): (entry: AccessEntry) => void {
  if (!sink.enabled) return () => undefined;
  const line = adminFormatter(format);
  return (entry) => sink.write(line(entry));
}
