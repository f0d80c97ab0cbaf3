import { readFileSync } from 'node:fs';
import type { Claims } from '../../plugin-kit/auth/index.ts';
import { fetchDocument } from '../../plugin-kit/net/index.ts';
import type { PluginTools } from '../../plugin-sdk/index.ts';
import type { IntrospectionConfig } from './schema.ts';

const maxAnswer = 256 * 1024;

/** Form fields that describe the client's request; null when they are not sent. */
export interface RequestInfo {
  readonly path: string;
  readonly method: string;
}

/** Introspection requests (RFC 7662, 2). */
export class IntrospectionEndpoint {
  readonly #config: IntrospectionConfig;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #authorities: string | null;

  constructor(config: IntrospectionConfig, { settings }: PluginTools) {
    const { trustedCertificates: file } = settings;
    this.#config = config;
    this.#authorities = file === null ? null : readFileSync(file, 'utf8');
    this.#headers = {
      ...config.custom_introspection_headers,
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'application/json',
      Authorization: config.authorization_value ?? basic(config.client_id ?? '', config.client_secret ?? ''),
    };
  }

  /** The claims of an active token, or null. Rejects when the server sends no valid response; no message contains the token. */
  async introspect(token: string, about: RequestInfo | null): Promise<Claims | null> {
    const { introspection_url: url, timeout, ssl_verify: verify, token_type_hint: hint } = this.#config;
    const form = new URLSearchParams({ token, ...(hint === null ? {} : { token_type_hint: hint }) });
    const { status, body } = await fetchDocument(url, {
      method: 'POST',
      headers: about === null ? this.#headers : { ...this.#headers, ...headersOf(about) },
      body: form.toString(),
      timeout,
      maxBytes: maxAnswer,
      verify,
      ...(this.#authorities === null ? {} : { ca: this.#authorities }),
    });
    if (status !== 200) throw new Error(`the introspection endpoint answered with status ${status}`);
    const answer = parsed(body);
    if (answer === null || typeof answer['active'] !== 'boolean') {
      throw new Error('the introspection endpoint gave no proper answer');
    }
    return answer['active'] ? answer : null;
  }
}

function headersOf({ path, method }: RequestInfo): Readonly<Record<string, string>> {
  return { 'X-Request-Path': path, 'X-Request-Http-Method': method };
}

/** RFC 6749, 2.3.1: both parts are form-encoded before they are joined. */
function basic(id: string, secret: string): string {
  const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`;
}

function parsed(body: Buffer): Claims | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : null;
  } catch {
    return null;
  }
}
