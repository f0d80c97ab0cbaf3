import { isJsonObject, type JsonObject, type JsonValue } from '../../plugin-kit/json/json.ts';
import { CliError } from '../cli-error.ts';

const deadline = 30_000;

/** The Admin API of a running gateway. */
export class AdminClient {
  readonly #address: string;
  readonly #token: string | null;

  constructor(address: string, token: string | null) {
    if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
      throw new CliError(`--admin is not an http or https URL: '${address}'`);
    }
    this.#address = address.replace(/\/+$/, '');
    this.#token = token;
  }

  /** Null: there is no such entity. */
  async find(path: string): Promise<JsonObject | null> {
    const { status, body } = await this.#request('GET', path);
    if (status === 404) return null;
    return this.#entity('GET', path, status, body);
  }

  /** Rejects with a `CliError` unless the status is 2xx. */
  async write(method: 'PUT' | 'PATCH', path: string, fields: JsonObject): Promise<JsonObject> {
    const { status, body } = await this.#request(method, path, fields);
    return this.#entity(method, path, status, body);
  }

  /** For anything else. Rejects with a `CliError` unless the status is 2xx. */
  async send(method: 'GET' | 'POST' | 'DELETE', path: string, fields?: JsonObject): Promise<JsonObject> {
    const { status, body } = await this.#request(method, path, fields);
    return this.#entity(method, path, status, body);
  }

  #entity(method: string, path: string, status: number, body: JsonValue): JsonObject {
    const object = isJsonObject(body) ? body : {};
    if (status >= 200 && status < 300) return object;
    if (status === 401)
      throw new CliError('the Admin API requires a token: pass it with --token or SLUICEGATE_ADMIN_TOKEN');
    const { message } = object;
    throw new CliError(`${method} ${path}: ${status} ${typeof message === 'string' ? message : ''}`.trim());
  }

  async #request(
    method: string,
    path: string,
    fields?: JsonObject,
  ): Promise<{ readonly status: number; readonly body: JsonValue }> {
    try {
      const response = await fetch(this.#address + path, {
        method,
        redirect: 'error',
        signal: AbortSignal.timeout(deadline),
        headers: {
          ...(fields !== undefined && { 'Content-Type': 'application/json' }),
          ...(this.#token !== null && { Authorization: `Bearer ${this.#token}` }),
        },
        ...(fields !== undefined && { body: JSON.stringify(fields) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as JsonValue) };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
      throw new CliError(`no answer from the Admin API at ${this.#address}: ${reason}`);
    }
  }
}
