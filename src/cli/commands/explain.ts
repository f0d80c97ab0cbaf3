import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { printableJson } from '../explain/layout.ts';
import { printExplanation } from '../explain/print-explanation.ts';
import { isRouted } from '../explain/read-explanation.ts';
import { type ExplainRequest, requestExplanation } from '../explain/request-explanation.ts';
import { resolveProxy } from '../explain/resolve-proxy.ts';

/** `explain [method] <path>`: sends the request to the proxy listener and prints the explanation. 0: a route matched. */
export async function explain(context: CommandContext): Promise<number> {
  const { options } = context.arguments;
  const request = requestOf(context);
  const explanation = await requestExplanation(request, resolveProxy(context, request.secure));
  if (options['json'] === true) context.out(printableJson(explanation));
  else for (const line of printExplanation(explanation, context.colours)) context.out(line);
  return isRouted(explanation) ? 0 : 1;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

function requestOf(context: CommandContext): ExplainRequest {
  const { positionals, options, lists } = context.arguments;
  const body = bodyOf(context);
  const target = positionals[1] ?? positionals[0];
  if (target === undefined)
    throw new CliError('usage: sluicegate explain [method] <path> (see sluicegate explain --help)');
  const method = positionals.length < 2 ? (body === null ? 'GET' : 'POST') : (positionals[0] ?? '').toUpperCase();
  if (!token.test(method)) throw new CliError(`'${method}' is not a method`);
  const { path, host, secure } = targetOf(target);
  const headers = (lists['header'] ?? []).map(headerOf);
  if (host !== null && !headers.some(([name]) => name.toLowerCase() === 'host')) headers.unshift(['Host', host]);
  if (body !== null && !headers.some(([name]) => name.toLowerCase() === 'content-type')) {
    headers.push(['Content-Type', contentType(body)]);
  }
  return { method, path, headers, body, secure, dry: options['dry-run'] === true };
}

/** A path, or a URL as the client of the gateway would write it: its host is that of the request. */
function targetOf(text: string): { readonly path: string; readonly host: string | null; readonly secure: boolean } {
  if (text.startsWith('/')) return { path: checkedPath(text), host: null, secure: false };
  const parts = /^(https?):\/\/([^/?#]+)([^#]*)$/i.exec(text);
  if (parts === null)
    throw new CliError(`'${text}' is neither a path (/users/42) nor a URL (http://example.com/users/42)`);
  const [, scheme = '', host = '', rest = ''] = parts;
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return { path: checkedPath(path), host, secure: scheme.toLowerCase() === 'https' };
}

function checkedPath(path: string): string {
  if (/[\x00-\x20\x7f]/.test(path)) throw new CliError('the path has a space or a control character: write it as %20');
  return Buffer.from(path, 'utf8')
    .toString('latin1')
    .replace(/[\x80-\xff]/g, escaped);
}

function escaped(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;
}

const framing: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  const name = line.slice(0, colon).trim();
  const value = line.slice(colon + 1).trim();
  if (colon < 1 || !token.test(name)) throw new CliError(`'${line}' is not a header (write 'Name: value')`);
  if (framing.has(name.toLowerCase())) throw new CliError(`the header ${name} is derived from the body of --data`);
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value))
    throw new CliError(`the value of the header ${name} has a control character`);
  // Headers are sent as latin1; other characters are sent as UTF-8 bytes.
  return [name, Buffer.from(value, 'utf8').toString('latin1')];
}

function bodyOf(context: CommandContext): Buffer | null {
  const data = context.arguments.options['data'];
  if (typeof data !== 'string') return null;
  if (!data.startsWith('@')) return Buffer.from(data);
  try {
    return readFileSync(resolve(context.cwd, data.slice(1)));
  } catch (error) {
    throw new CliError(`cannot read ${data.slice(1)}: ${error instanceof Error ? error.message : error}`);
  }
}

/** A body that looks like JSON is sent as JSON; any other as curl does. */
function contentType(body: Buffer): string {
  return /^\s*[[{]/.test(body.subarray(0, 100).toString('latin1'))
    ? 'application/json'
    : 'application/x-www-form-urlencoded';
}
