import { isFramingHeader } from '../../plugin-sdk/header-names.ts';
import type { XmlMapping } from '../../plugin-sdk/xml.ts';
import { bodyMediaTypes, compileBody } from './body-template.ts';
import { parseTarget, type Target } from './compose.ts';
import { type Condition, compileCondition } from './condition.ts';
import type { Opening } from './large-text.ts';
import type { MadeCall } from './make-call.ts';
import { parseReference, type Reference, TemplateError } from './reference.ts';
import type { PartConfig } from './request-schema.ts';
import { compileShape, type Shape, type ShapeConfig } from './shape.ts';
import { compileTemplate, headerSafe, percentEncoded, type Template } from './template.ts';

/** A name, already as it is sent, and its value. */
export interface NamedTemplate {
  readonly name: string;
  readonly value: Template;
}

/** A part of the configuration, compiled. */
export interface Part {
  readonly name: string;
  readonly config: PartConfig;
  readonly to: { readonly to?: { readonly service: string } | { readonly url: string } };
  readonly path: Template;
  readonly query: readonly NamedTemplate[];
  readonly headers: readonly NamedTemplate[];
  readonly pass: ReadonlySet<string>;
  readonly body: Template | null;
  /** The call, when it is always the same. */
  readonly constant: MadeCall | null;
  readonly when: Condition | null;
  readonly each: Reference | null;
  readonly target: Target;
  readonly shape: Shape | null;
  readonly shapeConfig: ShapeConfig;
  readonly xml: XmlMapping;
  /** Members of its value that other parts land in. */
  readonly opening: Opening;
  /** Paths of the values that other parts refer to. */
  readonly referred: readonly string[];
  readonly passStatus: ReadonlySet<number>;
  readonly nullOnStatus: ReadonlySet<number>;
  /** With the field that has them. */
  readonly references: readonly { readonly field: string; readonly reference: Reference }[];
}

/** Called with a field and what is wrong with it. */
export type Report = (field: string, problem: string) => void;

const accepted = {
  auto: 'application/json, application/xml;q=0.8',
  json: 'application/json',
  xml: 'application/xml, text/xml',
  text: '*/*',
} as const;

export function compilePart(config: PartConfig, report: Report): Part {
  const references: { field: string; reference: Reference }[] = [];
  /** Compiles one field; what is wrong with it is reported, and `fallback` stands for it. */
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
    opening: null,
    referred: [],
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

/** Only what can be copied into another thread. */
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

/** What the part does not say itself is added: what it accepts, and what its body is. */
function headerTemplates(config: PartConfig): { readonly name: string; readonly text: string }[] {
  const given = Object.entries(config.headers ?? {}).map(([name, text]) => ({ name, text }));
  const names = new Set([...given.map(({ name }) => name), ...config.pass_headers].map((name) => name.toLowerCase()));
  const faulty = [...names].find((name) => name === 'expect' || isFramingHeader(name));
  if (faulty !== undefined) throw new TemplateError(`${faulty} is the gateway's own`);
  if (!names.has('accept')) given.push({ name: 'Accept', text: accepted[config.format] });
  if (config.body !== null && !names.has('content-type')) {
    given.push({ name: 'Content-Type', text: bodyMediaTypes[config.body_type] });
  }
  return given;
}

function compileHeader(name: string, text: string): Template {
  const compiled = compileTemplate(text, headerSafe);
  if (name.toLowerCase() === 'host' && compiled.references.length > 0) {
    throw new TemplateError('Host must not have references');
  }
  if (/[\x00-\x1f\x7f]/.test(text)) throw new TemplateError('a value must not have control characters');
  return compiled;
}
