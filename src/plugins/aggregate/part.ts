import type { XmlMapping } from '../../plugin-kit/xml/index.ts';
import { isFramingHeader } from '../../plugin-sdk/index.ts';
import { parseTarget, type Target } from './compose.ts';
import type { NestedTargets } from './large-text.ts';
import type { PartConfig } from './request-schema.ts';
import type { MadeCall } from './run/outcome.ts';
import { compileShape, type Shape, type ShapeConfig } from './shape.ts';
import { bodyMediaTypes, compileBody } from './values/body-template.ts';
import { type Condition, compileCondition } from './values/condition.ts';
import { parseReference, type Reference, TemplateError } from './values/reference.ts';
import { compileTemplate, headerSafe, percentEncoded, type Template } from './values/template.ts';

/** A name, already encoded, and its value. */
export interface NamedTemplate {
  readonly name: string;
  readonly value: Template;
}

/** A compiled part of the configuration. */
export interface Part {
  readonly name: string;
  readonly config: PartConfig;
  readonly to: { readonly to?: { readonly service: string } | { readonly url: string } };
  readonly path: Template;
  readonly query: readonly NamedTemplate[];
  readonly headers: readonly NamedTemplate[];
  readonly pass: ReadonlySet<string>;
  readonly body: Template | null;
  /** The call, if it is always the same. */
  readonly constant: MadeCall | null;
  readonly when: Condition | null;
  readonly each: Reference | null;
  readonly target: Target;
  readonly shape: Shape | null;
  readonly shapeConfig: ShapeConfig;
  readonly xml: XmlMapping;
  /** Members of its value that other parts are placed in. */
  readonly nestedTargets: NestedTargets;
  /** Paths of the values that other parts refer to. */
  readonly referenced: readonly string[];
  readonly passStatus: ReadonlySet<number>;
  readonly nullOnStatus: ReadonlySet<number>;
  /** With the field that contains them. */
  readonly references: readonly { readonly field: string; readonly reference: Reference }[];
}

/** Called with the name of a field and its problem. */
export type Report = (field: string, problem: string) => void;

const accepted = {
  auto: 'application/json, application/xml;q=0.8',
  json: 'application/json',
  xml: 'application/xml, text/xml',
  text: '*/*',
} as const;

export function compilePart(config: PartConfig, report: Report): Part {
  const references: { field: string; reference: Reference }[] = [];
  /** Compiles one field; reports an error and returns `fallback` instead. */
  function field<T extends object | null>(name: string, fallback: T, compile: () => T): T {
    try {
      return compile();
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      report(name, error.message);
      return fallback;
    }
  }
  function template(name: string, compile: () => Template): Template {
    const compiled = field(name, nothing, compile);
    for (const reference of compiled.references) references.push({ field: name, reference });
    return compiled;
  }
  const { body, when, each } = config;
  const query = Object.entries(config.query ?? {}).map(([name, text]) => ({
    name: percentEncoded(name),
    value: template('query', () => compileTemplate(text, percentEncoded, { encodeAll: true })),
  }));
  const condition = when === null ? null : field('when', null, () => compileCondition(when));
  if (condition !== null) references.push({ field: 'when', reference: condition.reference });
  const list = each === null ? null : field('each', null, () => parseReference(each.replace(/^\{(.*)\}$/, '$1')));
  if (list !== null) references.push({ field: 'each', reference: list });
  return {
    name: config.name,
    config,
    to: destination(config),
    path: template('path', () => compilePath(config.path)),
    query,
    headers: field('headers', [], () => headerTemplates(config)).map(({ name, text }) => ({
      name,
      value: template('headers', () => compileHeader(name, text)),
    })),
    pass: new Set(config.pass_headers.map((name) => name.toLowerCase())),
    body: body === null ? null : template('body', () => compileBody(body, config.body_type)),
    constant: null,
    when: condition,
    each: list,
    target: field('target', [], () => parseTarget(config.target ?? config.name)),
    shape: compileShapeOf(config, report),
    shapeConfig: shapeConfigOf(config),
    xml: {
      keepRoot: false,
      stripNamespaces: true,
      arrays: config.xml_arrays ?? [],
      numbers: config.xml_numbers ?? [],
      booleans: config.xml_booleans ?? [],
    },
    nestedTargets: null,
    referenced: [],
    passStatus: new Set(config.pass_status),
    nullOnStatus: new Set(config.null_on_status),
    references,
  };
}

function destination({ service, url }: PartConfig): Part['to'] {
  if (service !== null) return { to: { service } };
  return url === null ? {} : { to: { url } };
}

const nothing: Template = { references: [], fill: () => undefined };

function compileShapeOf(config: PartConfig, report: Report): Shape | null {
  for (const name of ['unwrap', 'pick', 'omit', 'rename'] as const) {
    try {
      compileShape({ ...noShape, [name]: config[name] });
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      report(name, error.message);
      return null;
    }
  }
  return compileShape(config);
}

/** Only values that can be copied to another thread. */
function shapeConfigOf({ unwrap, collection, pick, omit, rename, wrap }: PartConfig): ShapeConfig {
  return { unwrap, collection, pick, omit, rename: rename === null ? null : { ...rename }, wrap };
}

const noShape = { unwrap: null, collection: 'keep', pick: null, omit: null, rename: null, wrap: null } as const;

const pathText = /^(?:[A-Za-z0-9\-._~!$&'()*+,/:;=@]|%[0-9A-Fa-f]{2})*$/;

function compilePath(text: string): Template {
  const literal = text.replace(/\{[^{}]*\}/g, 'x');
  if (/[{}]/.test(literal)) throw new TemplateError('a brace has no counterpart');
  if (!pathText.test(literal)) throw new TemplateError('it has a character that cannot stand in a path');
  if (literal.includes('//')) throw new TemplateError('must not have empty segments');
  if (/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(literal)) throw new TemplateError('must not have dot segments');
  return compileTemplate(text, percentEncoded, { allowEmpty: false });
}

/** Adds `Accept` and `Content-Type` if the part does not set them. */
function headerTemplates(config: PartConfig): { readonly name: string; readonly text: string }[] {
  const templates = Object.entries(config.headers ?? {}).map(([name, text]) => ({ name, text }));
  const names = new Set(
    [...templates.map(({ name }) => name), ...config.pass_headers].map((name) => name.toLowerCase()),
  );
  const reserved = [...names].find((name) => name === 'expect' || isFramingHeader(name));
  if (reserved !== undefined) throw new TemplateError(`${reserved} is the gateway's own`);
  if (!names.has('accept')) templates.push({ name: 'Accept', text: accepted[config.format] });
  if (config.body !== null && !names.has('content-type')) {
    templates.push({ name: 'Content-Type', text: bodyMediaTypes[config.body_type] });
  }
  return templates;
}

function compileHeader(name: string, text: string): Template {
  const compiled = compileTemplate(text, headerSafe);
  if (name.toLowerCase() === 'host' && compiled.references.length > 0) {
    throw new TemplateError('Host must not have references');
  }
  if (/[\x00-\x1f\x7f]/.test(text)) throw new TemplateError('a value must not have control characters');
  return compiled;
}
