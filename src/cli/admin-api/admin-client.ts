import { isJsonObject, type JsonObject } from '../../plugin-kit/json/json.ts';
import { type AdminAnswer, type AdminApi, jsonOf, requireAccepted } from './admin-api.ts';

const timeout = 30_000;

/** Reads and writes single entities. Every method rejects with a `CliError` when the request is not accepted. */
export class AdminClient {
  readonly #api: AdminApi;

  constructor(api: AdminApi) {
    this.#api = api;
  }

  /** Null: there is no such entity. */
  async find(path: string): Promise<JsonObject | null> {
    const answer = await this.#api.send('GET', path, timeout);
    return answer.status === 404 ? null : objectOf(answer, `GET ${path}`);
  }

  async write(method: 'PUT' | 'PATCH', path: string, fields: JsonObject): Promise<JsonObject> {
    return this.#send(method, path, fields);
  }

  /** For anything else. */
  async send(method: 'GET' | 'POST' | 'DELETE', path: string, fields?: JsonObject): Promise<JsonObject> {
    return this.#send(method, path, fields);
  }

  async #send(method: string, path: string, fields?: JsonObject): Promise<JsonObject> {
    const body = fields === undefined ? undefined : JSON.stringify(fields);
    return objectOf(await this.#api.send(method, path, timeout, body), `${method} ${path}`);
  }
}

function objectOf(answer: AdminAnswer, request: string): JsonObject {
  const body = jsonOf(answer) as JsonObject;
  const object = isJsonObject(body) ? body : {};
  const { message } = object;
  requireAccepted(answer, `${request}: ${answer.status} ${typeof message === 'string' ? message : ''}`.trim());
  return object;
}
