import {
  type AccessContext,
  type MediaType,
  mediaType,
  type PluginPhases,
  type PluginTools,
  type Reply,
  refuse,
} from '../../plugin-sdk/index.ts';
import {
  type BodyJudge,
  bodyJudge,
  bodyRefusal,
  bodyType,
  compileParameter,
  inRanges,
  type Parameter,
  type ParameterViolation,
  parameterViolations,
  rawArguments,
  surelyWithoutBody,
  violationReply,
} from '../../plugin-sdk/json-schema/index.ts';
import { bodySchema, parameterSchema } from './compile-config.ts';
import type { RequestValidatorConfig } from './schema.ts';

const wrongBody = "request body doesn't conform to schema";
const wrongParameter = "request param doesn't conform to schema";
const wrongType = 'specified Content-Type is not allowed';
const mostErrors = 10;

export function validateRequests(config: RequestValidatorConfig, tools: PluginTools): PluginPhases {
  const parameters = (config.parameter_schema ?? []).map((one) => parameterOf(one, config));
  const judge = config.body_schema === null ? null : bodyJudge(bodySchema(config.body_schema, config.version));
  const isAllowed = allowedTypes(config);
  const refusal = (reply: Reply): Reply => {
    tools.count('wrong_requests');
    return reply;
  };
  return {
    access(context) {
      const wrong = wrongParameters(context, parameters);
      if (wrong.length > 0) {
        return refusal(violationReply(wrongParameter, wrong, context.request.id, config.verbose_response));
      }
      if (judge === null) return undefined;
      if (!surelyWithoutBody(context)) return checkBody(context, judge, isAllowed, config, refusal);
      return needsBody(context) ? refusal(refuse(400, wrongBody)) : undefined;
    },
  };
}

function parameterOf(
  { schema, style, explode, ...rest }: NonNullable<RequestValidatorConfig['parameter_schema']>[number],
  { version }: RequestValidatorConfig,
): Parameter {
  return compileParameter({
    ...rest,
    ...(style !== null && { style }),
    ...(explode !== null && { explode }),
    schema: schema === null ? null : parameterSchema(schema, version),
  });
}

function wrongParameters({ request }: AccessContext, parameters: readonly Parameter[]): readonly ParameterViolation[] {
  if (parameters.length === 0) return [];
  const path = new Map(Object.entries(request.uriCaptures()));
  const source = { request, query: rawArguments(request.query), path };
  return parameters.flatMap((parameter) => parameterViolations(parameter, source)).slice(0, mostErrors);
}

async function checkBody(
  context: AccessContext,
  judge: BodyJudge,
  isAllowed: (type: MediaType) => boolean,
  config: RequestValidatorConfig,
  refusal: (reply: Reply) => Reply,
): Promise<Reply | undefined> {
  const types = context.request.headerValues('content-type');
  const type = types.length === 1 ? mediaType(types[0] as string) : null;
  // Another charset would let the backend read other text.
  const isRight = type !== null && isAllowed(type) && (!type.isJson || bodyType(types) !== null);
  // Where a body must be, one of another type need not be read to be refused.
  if (!isRight && types.length > 0 && needsBody(context)) return refusal(refuse(415, wrongType));
  const body = await context.decodedBody();
  if (body.byteLength === 0) return needsBody(context) ? refusal(refuse(400, wrongBody)) : undefined;
  if (body.byteLength > config.max_body_size) return refuse(413, 'Payload too large');
  if (!isRight) return refusal(refuse(415, wrongType));
  if (!type.isJson) return undefined;
  const verdict = await judge(body, mostErrors, context.client.ip);
  const reply = bodyRefusal(verdict, context.request.id, config.verbose_response, wrongBody);
  return reply === null ? undefined : refusal(reply);
}

/** Of the methods whose requests carry something. */
function needsBody({ request: { method } }: AccessContext): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}

interface AllowedType {
  readonly range: string;
  readonly parameters: ReadonlyMap<string, string>;
}

function allowedTypes(config: RequestValidatorConfig): (type: MediaType) => boolean {
  const allowed = config.allowed_content_types.map(allowedType);
  const heedsParameters = config.content_type_parameter_validation;
  return (type) =>
    allowed.some(
      ({ range, parameters }) =>
        inRanges([range], type.type) &&
        (!heedsParameters ||
          [...parameters].every(([name, value]) => type.parameter(name)?.toLowerCase() === value.toLowerCase())),
    );
}

function allowedType(text: string): AllowedType {
  const [range = '', ...rest] = text.split(';');
  const pairs = rest.flatMap((part): [string, string][] => {
    const [name = '', value = ''] = part.split('=');
    return name.trim() === '' ? [] : [[name.trim().toLowerCase(), value.trim().replace(/^"|"$/g, '')]];
  });
  return { range: range.trim().toLowerCase(), parameters: new Map(pairs) };
}
