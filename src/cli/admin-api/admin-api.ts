import { CliError } from '../cli-error.ts';

export interface AdminAnswer {
  readonly status: number;
  readonly text: string;
}

/** The Admin API of a running gateway. */
export class AdminApi {
  readonly address: string;
  readonly #token: string | null;

  constructor(address: string, token: string | null) {
    if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
      throw new CliError(`--admin is not an http or https URL: '${address}'`);
    }
    this.address = address.replace(/\/+$/, '');
    this.#token = token;
  }

  /** `body`: JSON text. `timeout` in milliseconds, for the whole answer. Rejects with a `CliError` when there is no answer. */
  async send(method: string, path: string, timeout: number, body?: string): Promise<AdminAnswer> {
    try {
      const response = await fetch(this.address + path, {
        method,
        redirect: 'error',
        signal: AbortSignal.timeout(timeout),
        headers: {
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(this.#token !== null && { Authorization: `Bearer ${this.#token}` }),
        },
        ...(body !== undefined && { body }),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      throw this.#noAnswer(error);
    }
  }

  /**
   * The pieces of an answer that may go on for ever. `timeout` in milliseconds, until it begins. Rejects with a `CliError` unless it
   * begins with 200.
   */
  async *stream(path: string, timeout: number): AsyncGenerator<string> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error('no answer in time')), timeout);
    let response: Response;
    try {
      const headers = this.#token === null ? {} : { Authorization: `Bearer ${this.#token}` };
      response = await fetch(this.address + path, { redirect: 'error', signal: late.signal, headers });
    } catch (error) {
      throw this.#noAnswer(error);
    } finally {
      clearTimeout(timer);
    }
    if (response.status !== 200 || response.body === null) {
      const answer = { status: response.status, text: await response.text() };
      const { message } = jsonOf(answer) as { readonly message?: unknown };
      requireAccepted(answer, `the Admin API answered ${answer.status}: ${typeof message === 'string' ? message : ''}`);
      return;
    }
    try {
      yield* response.body.pipeThrough(new TextDecoderStream());
    } catch (error) {
      throw this.#noAnswer(error);
    }
  }

  #noAnswer(error: unknown): CliError {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
    return new CliError(`no answer from the Admin API at ${this.address}: ${reason}`);
  }
}

/** The JSON of an answer; an empty object when it has no body. Throws a `CliError` for anything else. */
export function jsonOf({ status, text }: AdminAnswer): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`the Admin API answered with status ${status} and no JSON`);
  }
}

/** Throws a `CliError` with this text unless the request was accepted. */
export function requireAccepted({ status }: AdminAnswer, refusal: string): void {
  if (status >= 200 && status < 300) return;
  if (status === 401) {
    throw new CliError('the Admin API requires a token: set SLUICEGATE_ADMIN_TOKEN, or pass --token-file or --token');
  }
  throw new CliError(refusal);
}
