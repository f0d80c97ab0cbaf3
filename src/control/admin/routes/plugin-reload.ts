import { type ReloadOutcome, ReloadRuns } from '../../plugin-reload/reload-outcome.ts';
import type { AdminDependencies } from '../contract.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../http/admin-route.ts';
import { plainError } from '../http/http-error.ts';

/** Seconds for which one worker is observed. */
const defaultObserve = 10;
const maxObserve = 300;

const statuses: Readonly<Record<ReloadOutcome['state'], number>> = {
  unchanged: 200,
  live: 200,
  rolled_back: 409,
  refused: 400,
};

/** `/plugins/reload`: exchanges the code of users' plugins on this node. */
export function pluginReloadRoute({ pluginReload }: Pick<AdminDependencies, 'pluginReload'>): AdminRoute {
  return {
    path: '/plugins/reload',
    tag: 'plugins',
    operations: {
      GET: {
        access: 'read',
        handle: () => ok(pluginReload.state()),
        notes: { summary: 'The reload of plugins that runs, and what came of the last one', answer: 'object' },
      },
      POST: {
        access: 'admin',
        handle: (request) => reload(pluginReload, request),
        notes: {
          summary:
            "Load the code of the node's own plugins again: first in one worker, which is compared with the others",
          answer: 'object',
          queryParameters: [
            {
              name: 'observe',
              description: `Seconds for which one worker alone runs the new code, at most ${maxObserve}; 0: all get it at once`,
              schema: { type: 'number', minimum: 0, maximum: maxObserve, default: defaultObserve },
            },
          ],
          takesBody: true,
          otherStatuses: [400, 409],
        },
      },
    },
  };
}

async function reload(pluginReload: AdminDependencies['pluginReload'], request: AdminRequest): Promise<Answer> {
  const seconds = observeOf(request);
  try {
    const outcome = await pluginReload.run({ observe: seconds * 1000 });
    return { status: outcome.needs_new_process === true ? 409 : statuses[outcome.state], json: outcome };
  } catch (error) {
    if (error instanceof ReloadRuns) throw plainError(409, error.message);
    throw error;
  }
}

function observeOf(request: AdminRequest): number {
  const given = request.body.value['observe'] ?? request.query.first('observe') ?? defaultObserve;
  const seconds = typeof given === 'string' && /^\d+(?:\.\d+)?$/.test(given) ? Number(given) : given;
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= maxObserve)) {
    throw plainError(400, `observe must be a number of seconds between 0 and ${maxObserve}`);
  }
  return seconds;
}
