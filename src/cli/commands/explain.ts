import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  contentTypeOf,
  type ExplainedRequest,
  headerProblem,
  isToken,
  parseTarget,
  utf8Bytes,
} from '../../shared/explain/explained-request.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { printableJson } from '../explain/layout.ts';
import { printExplanation } from '../explain/print-explanation.ts';
import { isRouted } from '../explain/read-explanation.ts';
import { requestExplanation } from '../explain/request-explanation.ts';
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

function requestOf(context: CommandContext): ExplainedRequest {
  const { positionals, options, lists } = context.arguments;
  const body = bodyOf(context);
  const target = positionals[1] ?? positionals[0];
  if (target === undefined)
    throw new CliError('usage: sluicegate explain [method] <path> (see sluicegate explain --help)');
  const method = positionals.length < 2 ? (body === null ? 'GET' : 'POST') : (positionals[0] ?? '').toUpperCase();
  if (!isToken(method)) throw new CliError(`'${method}' is not a method`);
  const parsed = parseTarget(target);
  if (typeof parsed === 'string') throw new CliError(parsed);
  const { path, host, secure } = parsed;
  const headers = (lists['header'] ?? []).map(headerOf);
  if (host !== null && !headers.some(([name]) => name.toLowerCase() === 'host')) headers.unshift(['Host', host]);
  if (body !== null && !headers.some(([name]) => name.toLowerCase() === 'content-type')) {
    headers.push(['Content-Type', contentTypeOf(body)]);
  }
  return { method, path, headers, body, secure, dry: options['dry-run'] === true };
}

const framing: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  const name = line.slice(0, colon).trim();
  const value = line.slice(colon + 1).trim();
  if (colon < 1 || !isToken(name)) throw new CliError(`'${line}' is not a header (write 'Name: value')`);
  if (framing.has(name.toLowerCase())) throw new CliError(`the header ${name} is derived from the body of --data`);
  const problem = headerProblem(name, value);
  if (problem !== null) throw new CliError(problem);
  return [name, utf8Bytes(value)];
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
