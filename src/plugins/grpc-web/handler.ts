import {
  type AccessContext,
  type BodyTransform,
  contextKey,
  type HeaderFilterContext,
  type PluginPhases,
  type PluginTools,
  type Reply,
  reply,
} from '../../plugin-sdk/index.ts';
import { answerBody } from './answer-body.ts';
import { isPlainGrpc, type WebFormat, webFormat } from './formats.ts';
import { requestBody } from './request-body.ts';
import type { GrpcWebConfig } from './schema.ts';
import type { MethodCodec, Transcoder } from './transcoder.ts';

/** A request that was translated. */
interface Translation {
  readonly format: WebFormat;
  readonly codec: MethodCodec | null;
  /** The response is a gRPC response with a body: it is translated too. */
  answered: boolean;
}

const translation = contextKey<Translation>('grpc-web');

export function translateGrpcWeb(config: GrpcWebConfig, { log }: PluginTools): PluginPhases {
  const origin = config.allow_origin_header ?? '*';
  const preflight = reply({
    status: 200,
    headers: {
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'content-type,x-grpc-web,x-user-agent',
    },
    body: 'OK',
  });
  const transcoder = config.proto === null ? null : loadTranscoder(config.proto, log);
  return {
    access(context: AccessContext): undefined | Reply | Promise<undefined | Reply> {
      const { request, upstream } = context;
      if (request.method === 'OPTIONS') return preflight;
      const type = request.header('content-type');
      const format = webFormat(type);
      if (format === null) return isPlainGrpc(type) ? undefined : badRequest(`Unknown Content-Type for gRPC-Web`);
      upstream.setMethod('POST');
      upstream.setHeader('Content-Type', 'application/grpc');
      if (config.pass_stripped_path !== true) upstream.setPath(request.path);
      if (format.json) return translateJson(context, format, transcoder);
      context.set(translation, { format, codec: null, answered: false });
      return format.text ? translateBody(context, format, null) : undefined;
    },
    headerFilter(context: HeaderFilterContext): void {
      const { response } = context;
      response.setHeader('Access-Control-Allow-Origin', origin);
      const current = context.get(translation);
      if (current === undefined || response.source === 'gateway') return;
      if (response.status !== 200 || !isPlainGrpc(response.header('content-type'))) return;
      response.setHeader('Content-Type', current.format.type);
      // A trailers-only response: everything is in the head.
      if (response.header('grpc-status') !== null) {
        response.setHeader('Access-Control-Expose-Headers', 'grpc-status,grpc-message');
      } else current.answered = true;
    },
    bodyFilter(context: HeaderFilterContext): BodyTransform | null {
      const current = context.get(translation);
      return current?.answered === true ? answerBody(current.format, current.codec) : null;
    },
  };
}

async function translateJson(
  context: AccessContext,
  format: WebFormat,
  loading: Promise<Transcoder | null> | null,
): Promise<Reply | undefined> {
  if (loading === null) return badRequest('transcoding requests require a .proto file defining the service');
  const transcoder = await loading;
  if (transcoder === null) return badRequest('the .proto file defining the service cannot be read');
  const codec = transcoder.method(context.request.path);
  if (codec === null) return badRequest('the method is not defined in the .proto file');
  context.set(translation, { format, codec, answered: false });
  // Compressed messages cannot be read here.
  context.upstream.removeHeader('Grpc-Accept-Encoding');
  return await translateBody(context, format, codec);
}

async function translateBody(
  context: AccessContext,
  format: WebFormat,
  codec: MethodCodec | null,
): Promise<Reply | undefined> {
  const body = requestBody(await context.body(), format, codec);
  if (typeof body === 'string') return badRequest(body);
  context.upstream.setBody(body);
  return undefined;
}

function badRequest(text: string): Reply {
  return reply({ status: 400, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: text });
}

/** Null when the file cannot be used, which is logged; everything except JSON works without it. */
async function loadTranscoder(file: string, log: PluginTools['log']): Promise<Transcoder | null> {
  try {
    const { Transcoder } = await import('./transcoder.ts');
    return await Transcoder.load(file);
  } catch (error) {
    log.error('the .proto file cannot be used', { file, error: (error as Error).message });
    return null;
  }
}
