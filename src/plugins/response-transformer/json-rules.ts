import { mediaType } from '../../plugin-kit/http/index.ts';
import { bodyFault, changeJson, type JsonChange, jsonField } from '../../plugin-kit/json/index.ts';
import { throttledLog } from '../../plugin-kit/logging/index.ts';
import { OffThreadError } from '../../plugin-kit/runtime/index.ts';
import { namedFields, resolved, type TransformValues } from '../../plugin-kit/templates/index.ts';
import {
  type HeaderFilterContext,
  type PluginTools,
  type Reply,
  type ResponseContext,
  type ResponseWithBody,
  refuse,
} from '../../plugin-sdk/index.ts';
import type { ResponseTransformerConfig } from './schema.ts';

export function changesJson({ remove, rename, replace, add, append }: ResponseTransformerConfig): boolean {
  return remove.json.length + rename.json.length + replace.json.length + add.json.length + append.json.length > 0;
}

/** Also partial responses: `concerns` includes all that may be JSON. */
export function concerns({ response }: HeaderFilterContext): boolean {
  const type = mediaType(response.header('content-type'));
  if (type === null) return false;
  return type.isJson || (response.status === 206 && type.type === 'multipart/byteranges');
}

/** Changes the body of a response for which `concerns` is true. */
export function jsonChange(
  config: ResponseTransformerConfig,
  values: TransformValues,
  log: PluginTools['log'],
): (context: ResponseContext) => undefined | Reply | Promise<undefined | Reply> {
  const changes = changeList(config, values);
  const report = throttledLog(10_000, (reason, suppressed) => log.warn(reason, { suppressed }));
  const bad = (reason: string): Reply => {
    report(reason);
    return refuse(502, reason);
  };

  function failure(error: unknown): Reply {
    const fault = bodyFault(error);
    if (fault !== null) return bad(`In the answer of the backend ${fault}`);
    if (error instanceof OffThreadError) return refuse(503, 'Too many large bodies at a time', { 'Retry-After': '1' });
    throw error;
  }

  return (context) => {
    const { response } = context;
    const body = response.body();
    if (body.byteLength === 0) return undefined;
    const reason = unreadable(response, body, config.max_body_size);
    if (reason !== null) return bad(reason);
    try {
      const changed = changeJson(body, changes(values.render(context)), context.client.ip);
      if (changed instanceof Promise) return changed.then((bytes) => finish(response, bytes)).catch(failure);
      return finish(response, changed);
    } catch (error) {
      return failure(error);
    }
  };
}

/** A body that cannot be read must not pass unchanged. */
function unreadable(response: ResponseWithBody, body: Uint8Array, most: number): string | null {
  if (body.byteLength > most) return 'The answer of the backend is too large to be changed';
  if (response.status === 206) return 'A part of a JSON answer cannot be changed';
  const coding = response.header('content-encoding');
  if (coding === null || coding.toLowerCase() === 'identity') return null;
  return 'The answer of the backend has a content coding that is not supported';
}

/** The bytes no longer match the backend's validators and digests (RFC 9110 8.8.3.3, RFC 9530). */
function finish(response: ResponseWithBody, changed: Uint8Array | null): undefined {
  if (changed === null) return;
  response.setBody(changed);
  const etag = response.header('etag');
  if (etag?.startsWith('"') === true) response.setHeader('ETag', `W/${etag}`);
  for (const name of ['Content-MD5', 'Digest', 'Content-Digest', 'Repr-Digest', 'Accept-Ranges']) {
    response.removeHeader(name);
  }
}

function changeList(
  config: ResponseTransformerConfig,
  values: TransformValues,
): (rendered: readonly string[]) => readonly JsonChange[] {
  const fields = [config.rename, config.replace, config.add, config.append].flatMap(({ json }) => namedFields(json));
  // Parses paths now, not with the first body.
  for (const name of [...config.remove.json, ...fields.map(({ name }) => name)]) jsonField(name);
  const before: readonly JsonChange[] = [
    ...config.remove.json.map((name) => ({ kind: 'remove', name }) as const),
    ...namedFields(config.rename.json).map(({ name, value }) => ({ kind: 'rename', name, to: value }) as const),
  ];
  const sets = (['replace', 'add', 'append'] as const).flatMap((kind) => {
    const { json, json_types: types } = config[kind];
    return values.rules(json, namedFields).map((rule, at) => ({ ...rule, kind, type: types[at] ?? 'string' }));
  });
  return (rendered) => [
    ...before,
    ...sets.map(({ kind, name, value, type }) => ({ kind, name, value: resolved(value, rendered), type })),
  ];
}
