import { type MediaType, mediaType } from '../../plugin-kit/http/index.ts';
import {
  type BodyChecker,
  bodyChecker,
  bodyRefusal,
  bodyType,
  compileParameter,
  declaresNoBody,
  matchesMediaRange,
  type Parameter,
  type ParameterViolation,
  parameterViolations,
  rawArguments,
  violationReply,
} from '../../plugin-kit/json-schema/index.ts';
import { type AccessContext, type PluginPhases, type PluginTools, type Reply, refuse } from '../../plugin-sdk/index.ts';
import { bodySchema, parameterSchema } from './compile-config.ts';
import type { RequestValidatorConfig } from './schema.ts';

const wrongBody = "request body doesn't conform to schema";
const wrongParameter = "request param doesn't conform to schema";
const wrongType = 'specified Content-Type is not allowed';
const maxErrors = 10;

export function validateRequests(config: RequestValidatorConfig, tools: PluginTools): PluginPhases {
  const parameters = (config.parameter_schema ?? []).map((one) => parameterOf(one, config));
  const checkJson = config.body_schema === null ? null : bodyChecker(bodySchema(config.body_schema, config.version));
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
      if (checkJson === null) return undefined;
      if (!declaresNoBody(context)) return checkBody(context, checkJson, isAllowed, config, refusal);
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
  return parameters.flatMap((parameter) => parameterViolations(parameter, source)).slice(0, maxErrors);
}

async function checkBody(
  context: AccessContext,
  checkJson: BodyChecker,
  isAllowed: (type: MediaType) => boolean,
  config: RequestValidatorConfig,
  refusal: (reply: Reply) => Reply,
): Promise<Reply | undefined> {
  const types = context.request.headerValues('content-type');
  const type = types.length === 1 ? mediaType(types[0] as string) : null;
  // With another charset the backend would read another text.
  const isRight = type !== null && isAllowed(type) && (!type.isJson || bodyType(types) !== null);
  // A required body of another type is refused without reading it.
  if (!isRight && types.length > 0 && needsBody(context)) return refusal(refuse(415, wrongType));
  const body = await context.decodedBody();
  if (body.byteLength === 0) return needsBody(context) ? refusal(refuse(400, wrongBody)) : undefined;
  if (body.byteLength > config.max_body_size) return refuse(413, 'Payload too large');
  if (!isRight) return refusal(refuse(415, wrongType));
  if (!type.isJson) return undefined;
  const verdict = await checkJson(body, maxErrors, context.client.ip);
  const reply = bodyRefusal(verdict, context.request.id, config.verbose_response, wrongBody);
  return reply === null ? undefined : refusal(reply);
}

/** Methods whose requests have a body. */
function needsBody({ request: { method } }: AccessContext): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}

interface AllowedType {
  readonly range: string;
  readonly parameters: ReadonlyMap<string, string>;
}

function allowedTypes(config: RequestValidatorConfig): (type: MediaType) => boolean {
  const allowed = config.allowed_content_types.map(allowedType);
  const appliesParameters = config.content_type_parameter_validation;
  return (type) =>
    allowed.some(
      ({ range, parameters }) =>
        matchesMediaRange([range], type.type) &&
        (!appliesParameters ||
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
