import { text } from '../../shared/entities/row-fields.ts';
import { isUuid } from '../../shared/schema/attributes.ts';
import { StoreError } from '../store/store.ts';
import { ownKeys } from './own-keys.ts';
import { isUsageRange, ownUsage } from './own-usage.ts';
import {
  jsonReply,
  type PortalDependencies,
  PortalError,
  type PortalReply,
  type PortalRequest,
} from './portal-request.ts';
import { RequestAllowance } from './request-allowance.ts';
import { PortalSignIn, type SignedIn } from './sign-in.ts';
import { VisibleApis } from './visible-apis.ts';

/** Requests that are worked on at the same time. */
const maxInFlight = 16;

/**
 * The four paths below `/portal/api/`. Each reads rows of the consumer that signs in, or what it may call. There is no parameter that names
 * another consumer.
 */
export class PortalApi {
  readonly #deps: PortalDependencies;
  readonly #signIn: PortalSignIn;
  readonly #apis: VisibleApis;
  readonly #allowance = new RequestAllowance();
  #inFlight = 0;

  constructor(deps: PortalDependencies) {
    this.#deps = deps;
    this.#signIn = new PortalSignIn(deps);
    this.#apis = new VisibleApis(deps.store, deps.entities.byName('acls') !== undefined);
  }

  /** `path`: below `/portal/api/`, without the query. Never rejects. */
  async reply(request: PortalRequest, path: string, query: URLSearchParams): Promise<PortalReply> {
    if (this.#inFlight >= maxInFlight)
      return failure(new PortalError(503, 'Try again in a moment', { 'retry-after': '1' }));
    this.#inFlight++;
    try {
      return jsonReply(200, await this.#answer(request, path, query));
    } catch (error) {
      return failure(this.#known(error, request, path));
    } finally {
      this.#inFlight--;
    }
  }

  async #answer(request: PortalRequest, path: string, query: URLSearchParams): Promise<unknown> {
    const who = await this.#signIn.of(request);
    const wait = this.#allowance.take(who.consumer.id);
    if (wait > 0) throw new PortalError(429, 'Too many requests', { 'retry-after': String(wait) });
    const { analytics } = this.#deps;
    const { consumer } = who;
    if (path === 'me') return this.#me(who);
    if (path === 'apis') return { data: await this.#apis.list(consumer) };
    const id = /^apis\/([^/]+)$/.exec(path)?.[1];
    if (id !== undefined && isUuid(id)) return this.#apis.show(id.toLowerCase(), consumer);
    if (path === 'usage') {
      const range = query.get('range') ?? 'day';
      if (!isUsageRange(range)) throw new PortalError(400, 'range must be day or month');
      return { usage: await ownUsage(analytics, consumer, range) };
    }
    throw new PortalError(404, 'Not found');
  }

  async #me(who: SignedIn): Promise<unknown> {
    const { consumer } = who;
    return {
      username: text(consumer, 'username'),
      custom_id: text(consumer, 'custom_id'),
      keys: await ownKeys(this.#deps.store, who),
    };
  }

  /** Nothing of an unexpected error reaches the client. */
  #known(error: unknown, { method }: PortalRequest, path: string): PortalError {
    if (error instanceof PortalError) return error;
    this.#deps.log.error(`${method} /portal/api/${path.slice(0, 100)} of the portal failed`, error);
    if (error instanceof StoreError) return new PortalError(503, 'Try again in a moment', { 'retry-after': '1' });
    return new PortalError(500, 'An unexpected error occurred');
  }
}

function failure({ status, message, headers }: PortalError): PortalReply {
  return jsonReply(status, { message }, headers);
}
