import type { StoreWriter } from '../../store/store.ts';
import { RowChanges } from '../../what-if/row-changes.ts';
import { runFor } from '../access/current-caller.ts';
import { guardWrites } from '../access/guard-writes.ts';
import { requireAccess } from '../access/require-access.ts';
import { requireStillSignedIn } from '../access/still-signed-in.ts';
import type { AdminContext } from '../crud/admin-context.ts';
import { answerOf } from '../errors.ts';
import type { Hints } from '../hints/hints.ts';
import { type AdminRequest, type AdminRoute, allowedMethods, type Operation } from '../http/admin-route.ts';
import { HttpError, methodNotAllowed, notFound, plainError } from '../http/http-error.ts';
import { parseQuery } from '../http/query.ts';
import type { ProposedWrite } from './read-what-if.ts';
import { scratchStore } from './scratch-store.ts';

export interface TryOptions {
  readonly context: AdminContext;
  /** Routes of all entities, whose reads and writes use the context. */
  readonly routesOver: (context: AdminContext) => readonly AdminRoute[];
  readonly hints: Hints;
}

/** Milliseconds for which other writes wait at most. */
const maxTime = 2_000;

/** Ends the transaction, so that it leaves nothing. */
class Discarded extends Error {
  readonly changes: RowChanges;

  constructor(changes: RowChanges) {
    super('the changes are only tried');
    this.changes = changes;
  }
}

/**
 * Makes the writes as the Admin API would, in one transaction that is rolled back: no row, version, audit record or line of the change
 * feed remains. Returns the rows that they would leave. Rejects with the error of the write that would be refused, and its number in
 * `change`.
 */
export async function tryChanges(
  options: TryOptions,
  request: AdminRequest,
  writes: readonly ProposedWrite[],
): Promise<RowChanges> {
  try {
    await options.context.store.write(async (writer) => {
      await requireStillSignedIn(writer, request.caller);
      throw new Discarded(await runFor(request.caller, () => tryAll(options, request, writes, writer)));
    });
  } catch (error) {
    if (error instanceof Discarded) return error.changes;
    throw error;
  }
  throw new Error('a transaction that only tries changes was committed');
}

async function tryAll(
  options: TryOptions,
  request: AdminRequest,
  writes: readonly ProposedWrite[],
  writer: StoreWriter,
): Promise<RowChanges> {
  const end = performance.now() + maxTime;
  for (const [index, write] of writes.entries()) {
    if (performance.now() > end) throw plainError(413, `the first ${index} changes took too long: send fewer`);
    try {
      await tryOne(options, request, write, writer);
    } catch (error) {
      throw numbered(error, index);
    }
  }
  const changes = new RowChanges();
  for (const { entity, id, after, cause } of writer.changes) if (cause !== 'expired') changes.set(entity, id, after);
  return changes;
}

async function tryOne(
  { context, routesOver, hints }: TryOptions,
  request: AdminRequest,
  { method, path, body }: ProposedWrite,
  writer: StoreWriter,
): Promise<void> {
  const known = writer.changes.length;
  const store = scratchStore(context.store, writer);
  const { caller } = request;
  const scratch: AdminContext = {
    ...context,
    store,
    async commit(_request, work) {
      const own: StoreWriter = Object.defineProperty({ ...writer }, 'changes', {
        get: () => writer.changes.slice(known),
      });
      const guarded = guardWrites(own, caller, context.entities);
      const result = await work(guarded.writer);
      await guarded.verify();
      return result;
    },
  };
  const { route, operation, params } = findOperation(routesOver(scratch), method, path);
  requireAccess(caller, operation, method, route.path);
  const read = { form: false, value: body };
  try {
    await operation.handle({ ...request, path, params, query: parseQuery(path), body: read, raw: null, accept: null });
  } catch (error) {
    throw hints.refused(error, operation.notes, read);
  }
  for (const { entity } of writer.changes.slice(known)) {
    if (context.entities.byName(entity)?.inConfig !== true) {
      throw plainError(400, `${method} ${path} changes no config, so it cannot be tried`);
    }
  }
}

interface FoundOperation {
  readonly route: AdminRoute;
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
}

/** Throws 404 for an unknown path, and 405 for a method that it does not have. */
function findOperation(routes: readonly AdminRoute[], method: ProposedWrite['method'], path: string): FoundOperation {
  const segments = path.replace(/(.)\/$/, '$1').split('/');
  let best: { readonly route: AdminRoute; readonly params: Readonly<Record<string, string>> } | null = null;
  for (const route of routes) {
    const params = paramsOf(route.path.split('/'), segments);
    // A path without parameters is more specific.
    if (params !== null && (best === null || Object.keys(params).length < Object.keys(best.params).length)) {
      best = { route, params };
    }
  }
  if (best === null) throw notFound();
  const operation = best.route.operations[method];
  if (operation === undefined) throw methodNotAllowed(allowedMethods(best.route));
  return { ...best, operation };
}

function paramsOf(template: readonly string[], segments: readonly string[]): Readonly<Record<string, string>> | null {
  if (template.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [at, part] of template.entries()) {
    const segment = segments[at] ?? '';
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    if (name === undefined) {
      if (part !== segment) return null;
    } else if (segment === '') return null;
    else params[name] = decoded(segment);
  }
  return params;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw plainError(400, 'Bad request');
  }
}

/** The answer of the write, with its number. An error of the store or of the gateway is thrown as it is. */
function numbered(error: unknown, index: number): unknown {
  let internal = false;
  const note = (): void => {
    internal = true;
  };
  const { status, json, headers = {} } = answerOf(error, { failed: note, storeUnavailable: note });
  if (internal) return error;
  return new HttpError(status, { ...(json as Readonly<Record<string, unknown>>), change: index }, headers);
}
