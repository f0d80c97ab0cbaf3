import type { LogLevel } from '../../../shared/settings/settings.ts';
import type { LogLevelControl } from '../contract.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../http/admin-route.ts';
import { plainError } from '../http/http-error.ts';

const levels: ReadonlySet<string> = new Set<LogLevel>([
  'debug',
  'info',
  'notice',
  'warn',
  'error',
  'crit',
  'alert',
  'emerg',
]);

/** Default seconds after which a changed level is reset. */
const defaultTimeout = 60;
const maxTimeout = 86_400 * 20;

/** `/debug/node/log-level`: reads the level, or, on a node with a database, changes it temporarily. */
export function logLevelRoutes(control: LogLevelControl, withDatabase: boolean): readonly AdminRoute[] {
  /** The level after a temporary change. */
  let lasting = control.get();
  let timer: NodeJS.Timeout | undefined;

  function change(request: AdminRequest): Answer {
    // As in Kong: clients that change the config of a node without a database do not expect to change anything else either.
    if (!withDatabase) throw plainError(405, 'cannot change log level when not using a database');
    const level = request.params['log_level'] ?? '';
    if (!isLogLevel(level)) throw plainError(400, `unknown log level: ${level}`);
    const timeout = readTimeout(request);
    if (level === control.get()) return ok({ message: `log level is already ${level}` });
    clearTimeout(timer);
    control.set(level);
    if (timeout === 0) lasting = level;
    else {
      timer = setTimeout(() => control.set(lasting), timeout * 1000);
      timer.unref();
    }
    return ok({ message: 'log level changed' });
  }

  return [
    {
      path: '/debug/node/log-level',
      tag: 'node',
      operations: {
        GET: {
          access: 'read',
          handle: () => ok({ message: `log level: ${control.get()}` }),
          notes: { summary: 'Level of the error log', answer: 'object' },
        },
      },
    },
    {
      path: '/debug/node/log-level/{log_level}',
      tag: 'node',
      operations: {
        PUT: {
          access: 'admin',
          handle: change,
          notes: {
            summary: 'Change the level of the error log for a while',
            answer: 'object',
            queryParameters: [{ name: 'timeout', description: 'Seconds until it is changed back; 0 is never' }],
          },
        },
      },
    },
  ];
}

function isLogLevel(text: string): text is LogLevel {
  return levels.has(text);
}

function readTimeout(request: AdminRequest): number {
  const given = request.body.value['timeout'] ?? request.query.first('timeout') ?? defaultTimeout;
  const timeout = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  if (typeof timeout !== 'number' || !(timeout >= 0 && timeout <= maxTimeout)) {
    throw plainError(400, `timeout must be a number of seconds between 0 and ${maxTimeout}`);
  }
  return timeout;
}
