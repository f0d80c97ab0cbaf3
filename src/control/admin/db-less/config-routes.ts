import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import { type DeclarativeConfig, LoadError } from '../../declarative/db-less/declarative-config.ts';
import { requireStillSignedIn } from '../access/still-signed-in.ts';
import type { AdminDependencies, AdminOptions } from '../contract.ts';
import { type AdminRequest, type AdminRoute, type Answer, type Method, ok } from '../http/admin-route.ts';
import { HttpError, plainError } from '../http/http-error.ts';
import { refusing } from '../routes/static-responses.ts';
import { readConfigBody } from './config-body.ts';
import { invalidDocument, partlyLoaded, unreadableDocument } from './config-errors.ts';
import { shownConfig } from './shown-config.ts';

/** Maximum size of a document in bytes. */
const maxDocument = 256 * 2 ** 20;
/** Documents up to this size may be received at the same time as others. */
const smallDocument = 10 * 2 ** 20;
/** Seconds after which a client may try again. */
const retryAfter = 5;

/** `/config`: reads and replaces the config of a node without a database. */
export function configRoutes({ declarative }: AdminDependencies, { entities }: AdminOptions): readonly AdminRoute[] {
  if (declarative === null) {
    const message = 'this endpoint is only available when Kong is configured to not use a database';
    return [refusing('/config', ['GET', 'POST'], message, 'admin')];
  }
  return [
    {
      path: '/config',
      tag: 'config',
      maxBodySize: maxDocument,
      admit: admitOne(declarative),
      operations: {
        GET: {
          access: 'admin',
          handle: async () => ok({ config: await declarative.export() }),
          notes: { summary: 'The whole config in the declarative format', answer: 'object' },
        },
        POST: {
          access: 'admin',
          handle: (request) => loadConfig(declarative, entities, request),
          rawBody: true,
          notes: {
            summary: 'Replace the whole config with that of a declarative document',
            answer: 'object',
            status: 201,
            takesBody: true,
            otherStatuses: [413, 415, 429, 504],
            queryParameters: [
              {
                name: 'check_hash',
                description:
                  '1: answer 304 if the document is the one that is in use. Not for a document in JSON itself.',
                schema: { type: 'string', enum: ['1'] },
              },
              {
                name: 'flatten_errors',
                description: 'Report errors by entity, in `flattened_errors`.',
                schema: { type: 'string', enum: ['1', 'true', 'on', 'yes'] },
              },
            ],
          },
        },
      },
    },
  ];
}

/** Of the routes of a node with a database those that read the config; the others are refused. */
export function withoutChanges(routes: readonly AdminRoute[]): readonly AdminRoute[] {
  const message = 'this endpoint needs a database; without one, load a document by POST /config';
  return routes.map((route) => {
    const changes = Object.entries(route.operations).some(([method, { readOnly }]) => method !== 'GET' && !readOnly);
    return changes ? refusing(route.path, Object.keys(route.operations) as Method[], message) : route;
  });
}

/** Refuses a document that would have to wait, before it is received; of large documents only one is received at a time. */
function admitOne(declarative: DeclarativeConfig): (length: number | null) => () => void {
  let large = false;
  return (length) => {
    if (declarative.busy) throw busy();
    if (length !== null && length <= smallDocument) return () => {};
    if (large) throw busy();
    large = true;
    return () => {
      large = false;
    };
  };
}

async function loadConfig(
  declarative: DeclarativeConfig,
  entities: EntityRegistry,
  request: AdminRequest,
): Promise<Answer> {
  const flatten = truthy.has(request.query.first('flatten_errors') ?? '');
  try {
    const sent = readConfigBody(request.raw);
    if ('hash' in sent && sent.hash === declarative.hash && request.query.first('check_hash') === '1') {
      request.trail.settled = true;
      return { status: 304 };
    }
    const loaded = await declarative.load('text' in sent ? sent.text : sent.document, async (writer) => {
      await requireStillSignedIn(writer, request.caller);
      request.trail.attribute(writer, { action: 'apply', note: 'POST /config' });
      // Also for a document that is loaded in part, which is answered as an error.
      await request.trail.recordAction(writer, { query: {}, fields: [] });
    });
    if (loaded.problems.length > 0) throw partlyLoaded(loaded, flatten);
    return {
      status: 201,
      stream: { type: 'application/json; charset=utf-8', body: shownConfig(loaded.rows, entities) },
    };
  } catch (error) {
    throw answerTo(error, flatten);
  }
}

const truthy: ReadonlySet<string> = new Set(['1', 'true', 'on', 'yes']);

function answerTo(error: unknown, flatten: boolean): unknown {
  if (!(error instanceof LoadError)) return unreadableDocument(error);
  switch (error.kind) {
    case 'busy':
      return busy();
    case 'timeout':
      return plainError(504, 'Timed out while loading configuration');
    case 'invalid':
      return invalidDocument(error.problems, flatten);
  }
}

function busy(): HttpError {
  return new HttpError(
    429,
    { message: 'Currently loading previous configuration' },
    { 'Retry-After': String(retryAfter) },
  );
}
