import type { LogLevel } from '../../../shared/settings/settings.ts';
import type { AdminOptions } from '../contract.ts';
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

/** `/debug/.../log-level`: reads the level, or, with a database, changes it temporarily, on this node or on all. */
export function logLevelRoutes(
  { logLevel, broadcastLogLevel }: Pick<AdminOptions, 'logLevel' | 'broadcastLogLevel'>,
  withDatabase: boolean,
): readonly AdminRoute[] {
  function wantedLevel(request: AdminRequest): { readonly level: LogLevel; readonly timeout: number } {
    // As in Kong: clients that change the config of a node without a database do not expect to change anything else either.
    if (!withDatabase) throw plainError(405, 'cannot change log level when not using a database');
    const level = request.params['log_level'] ?? '';
    if (!isLogLevel(level)) throw plainError(400, `unknown log level: ${level}`);
    return { level, timeout: readTimeout(request) };
  }

  function changeNode(request: AdminRequest): Answer {
    const { level, timeout } = wantedLevel(request);
    if (level === logLevel.get()) return ok({ message: `log level is already ${level}` });
    logLevel.change(level, timeout);
    return ok({ message: 'log level changed' });
  }

  async function changeAll(request: AdminRequest): Promise<Answer> {
    const { level, timeout } = wantedLevel(request);
    await broadcastLogLevel(level, timeout);
    logLevel.change(level, timeout);
    return ok({ message: 'log level changed' });
  }

  const timeout = { name: 'timeout', description: 'Seconds until it is changed back; 0 is never' };

  return [
    {
      path: '/debug/node/log-level',
      tag: 'node',
      operations: {
        GET: {
          access: 'read',
          handle: () => ok({ message: `log level: ${logLevel.get()}` }),
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
          handle: changeNode,
          notes: {
            summary: 'Change the level of the error log for a while',
            answer: 'object',
            queryParameters: [timeout],
          },
        },
      },
    },
    {
      path: '/debug/cluster/log-level/{log_level}',
      tag: 'node',
      operations: {
        PUT: {
          access: 'admin',
          handle: changeAll,
          notes: {
            summary: 'Change the level of the error logs of all nodes for a while',
            answer: 'object',
            queryParameters: [timeout],
            otherStatuses: [503],
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
