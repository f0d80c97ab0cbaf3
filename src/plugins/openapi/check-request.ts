import {
  bodyRefusal,
  bodyType,
  declaresNoBody,
  formValue,
  matchesMediaRange,
  type ParameterSource,
  type ParameterViolation,
  parameterViolations,
  rawArguments,
  type Violation,
  violationReply,
} from '../../plugin-kit/json-schema/index.ts';
import type { BodyRule, Operation } from '../../plugin-kit/openapi/index.ts';
import { type AccessContext, type Reply, refuse } from '../../plugin-sdk/index.ts';
import type { OpenApiConfig } from './schema.ts';

/** A request that violates the document, and the violated rule. */
export interface Refusal {
  readonly reply: Reply;
  readonly rule: string;
}

/** Null: the request is valid. */
export function checkRequest(
  context: AccessContext,
  operation: Operation,
  path: ReadonlyMap<string, string>,
  config: OpenApiConfig,
): Refusal | null | Promise<Refusal | null> {
  const { request } = context;
  const source: ParameterSource = { request, query: rawArguments(request.query), path };
  const wrong: ParameterViolation[] = [];
  for (const parameter of operation.parameters) {
    wrong.push(...parameterViolations(parameter, source));
    if (wrong.length >= config.max_errors) break;
  }
  if (config.undeclared_query === 'refuse') wrong.push(...undeclared(source, operation.queryNames));
  if (wrong.length > 0) {
    const listed = wrong.slice(0, config.max_errors);
    const reply = violationReply('the request is not valid', listed, request.id, config.verbose);
    return { reply, rule: `${wrong[0]?.in} ${wrong[0]?.rule}` };
  }
  if (!declaresNoBody(context)) return checkBody(context, operation, config);
  return operation.body?.required === true ? missingBody : null;
}

const missingBody: Refusal = { reply: refuse(400, 'the request has no body'), rule: 'body required' };
const maxNameLength = 100;

function undeclared(source: ParameterSource, names: ReadonlySet<string> | null): readonly ParameterViolation[] {
  if (names === null) return [];
  const found = new Set<string>();
  for (const { name } of source.query) {
    if (name === null || !(names.has(name) || names.has(name.replace(/\[.*$/s, ''))))
      found.add((name ?? '').slice(0, maxNameLength));
  }
  return [...found].map((name) => ({ in: 'query', name, pointer: '', rule: 'undeclared', message: 'is not declared' }));
}

async function checkBody(context: AccessContext, { body }: Operation, config: OpenApiConfig): Promise<Refusal | null> {
  const type = bodyType(context.request.headerValues('content-type'));
  const rule = type === null ? undefined : body?.rules.find(({ range }) => matchesMediaRange([range], type.type));
  const types = body?.rules.map(({ range }) => range).join(' or ');
  const otherType: Refusal = { reply: refuse(415, `the content type must be ${types}`), rule: 'body content-type' };
  if (rule === undefined && body?.required === true && type !== null) return otherType;
  // With HTTP/2 only the body itself shows whether there is one.
  if (rule === undefined || rule.check !== null || rule.form !== null) {
    const bytes = await context.decodedBody();
    if (bytes.byteLength === 0) return body?.required === true ? missingBody : null;
    if (bytes.byteLength > config.max_body_size) return { reply: refuse(413, 'Payload too large'), rule: 'body size' };
    if (body === null) return { reply: refuse(400, 'the operation takes no body'), rule: 'body undeclared' };
    return rule === undefined ? otherType : checked(context, rule, bytes, config);
  }
  return null;
}

async function checked(
  { request, client }: AccessContext,
  { check, form }: BodyRule,
  bytes: Uint8Array,
  config: OpenApiConfig,
): Promise<Refusal | null> {
  if (check !== null) {
    const verdict = await check(bytes, config.max_errors, client.ip);
    const reply = bodyRefusal(verdict, request.id, config.verbose);
    const rule = verdict.kind === 'wrong' ? (verdict.violations[0]?.rule ?? '') : verdict.kind;
    return reply === null ? null : { reply, rule: `body ${rule}` };
  }
  if (form === null) return null;
  const value = formValue(bytes, form.shape);
  if (value === null)
    return { reply: refuse(400, 'the form cannot be read, or has a field twice'), rule: 'body syntax' };
  const violations: readonly Violation[] = form.check(value, bytes.byteLength, config.max_errors);
  if (violations.length === 0) return null;
  const reply = violationReply('the request body is not valid', violations, request.id, config.verbose);
  return { reply, rule: `body ${violations[0]?.rule}` };
}
