import type {
  PluginAdminAnswer,
  PluginAdminOperation,
  PluginAdminRequest,
  PluginAdminRoute,
  PluginAdminTools,
} from '../../../plugin-sdk/admin-routes.ts';
import type { EntityRow } from '../../../plugin-sdk/entity-access.ts';
import { pluginSettings } from '../../../shared/messages/plugin-settings.ts';
import { stackPlaces } from '../../../shared/plugin-loader/error-place.ts';
import { isPluginCode } from '../../../shared/plugin-loader/plugin-origin.ts';
import type { Settings } from '../../../shared/settings/settings.ts';
import type { AdminOptions } from '../contract.ts';
import type { AdminContext } from '../crud/admin-context.ts';
import { findEntity } from '../crud/find-entity.ts';
import type { AdminRequest, AdminRoute, Answer, Method, Operation } from '../http/admin-route.ts';
import { notFound, plainError, unexpectedError } from '../http/http-error.ts';
import { iterateRows } from '../lists/iterate-rows.ts';

/** Maximum rows of `all` and `list`. */
const maxRows = 10_000;

/** Paths that plugins add. */
export function pluginAdminRoutes(
  context: AdminContext,
  settings: Settings,
  options: Pick<
    AdminOptions,
    'pluginAdminRoutes' | 'pluginBackground' | 'pluginBroadcast' | 'pluginFailed' | 'pluginZone'
  >,
): readonly AdminRoute[] {
  const { pluginAdminRoutes: factories, pluginBackground, pluginBroadcast, pluginZone: zone } = options;
  return [...factories].flatMap(([plugin, factory]) => {
    const tools = toolsFor(context, {
      settings: pluginSettings(settings),
      background: (message) => pluginBackground(plugin, message),
      broadcast: (message) => pluginBroadcast(plugin, message),
      zone,
      carriesTraffic: settings.role !== 'control_plane',
    });
    return factory(tools).map((route) => adminRoute(route, (error) => options.pluginFailed(plugin, error)));
  });
}

type Failed = (error: unknown) => void;

function adminRoute({ path, operations }: PluginAdminRoute, failed: Failed): AdminRoute {
  const entries = Object.entries(operations) as [Method, PluginAdminOperation][];
  return {
    path,
    tag: 'plugins',
    operations: Object.fromEntries(
      entries.map(([method, operation]) => [method, operationOf(method, operation, failed)]),
    ),
  };
}

function operationOf(method: Method, operation: PluginAdminOperation, failed: Failed): Operation {
  const {
    summary,
    status = 200,
    queryParameters = [],
    otherStatuses = [],
    readOnly = false,
    access = 'admin',
    handle,
  } = operation;
  return {
    access,
    readOnly,
    async handle(request: AdminRequest): Promise<Answer> {
      if (method === 'DELETE') refuseSlips(request, queryParameters);
      const answer = await answerOf(handle, failed, {
        params: request.params,
        query: (name) => request.query.first(name) ?? null,
        body: request.body.value,
      });
      if (answer === null) throw notFound();
      return answer;
    },
    notes: {
      summary,
      status,
      answer: status === 204 ? 'none' : 'object',
      takesBody: method !== 'GET' && method !== 'DELETE',
      queryParameters,
      otherStatuses,
    },
  };
}

/** What the gateway throws to a plugin, such as an unavailable store, has an answer of its own. */
async function answerOf(
  handle: PluginAdminOperation['handle'],
  failed: Failed,
  request: PluginAdminRequest,
): Promise<PluginAdminAnswer | null> {
  try {
    return await handle(request);
  } catch (error) {
    const [nearest] = stackPlaces(error);
    if (nearest !== undefined && !isPluginCode(nearest.file)) throw error;
    failed(error);
    throw unexpectedError();
  }
}

/** A misspelt filter would select all rows, far more than intended. */
function refuseSlips({ query }: AdminRequest, known: readonly { readonly name: string }[]): void {
  const unknown = query.keys().find((key) => !known.some(({ name }) => name === key));
  if (unknown !== undefined) throw plainError(400, `unknown query argument '${unknown}'`);
}

function toolsFor(
  context: AdminContext,
  node: Pick<PluginAdminTools, 'settings' | 'background' | 'broadcast' | 'zone' | 'carriesTraffic'>,
): PluginAdminTools {
  const { store } = context;
  return {
    find: (entity, idOrName) => findEntity(context, store, context.entity(entity), idOrName),
    list: (entity, field, id) => store.list(entity, { where: { [field]: id }, limit: maxRows }),
    async all(entity) {
      const rows: EntityRow[] = [];
      for await (const row of iterateRows(store, entity)) {
        rows.push(row);
        if (rows.length >= maxRows) break;
      }
      return rows;
    },
    counters: (keys) => store.readCounters(keys),
    resetCounters: (ids) => store.resetCounters(ids),
    ...node,
  };
}
