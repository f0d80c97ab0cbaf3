import { utf8AsLatin1 } from '../../shared/util/bytes/latin1.ts';
import { type NamedValue, namedField, namedValue } from '../http/named-value.ts';
import { compileTemplate, type Template, type TemplateContext } from './templates.ts';

/** Source of a rule's value: a text, or the index of a rendered template. */
export type ValueSource = string | number;

/** A name and the source of its value. */
export interface ValueRule {
  readonly name: string;
  readonly value: ValueSource;
}

/**
 * The templates of a transformer. All are rendered before anything is changed, so that a rule sees the unchanged request, whatever
 * the others do.
 */
export class TransformValues {
  readonly #over: 'request' | 'answer';
  readonly #templates: Template[] = [];
  readonly #sources = new Map<string, ValueSource>();

  constructor(over: 'request' | 'answer' = 'request') {
    this.#over = over;
  }

  /** The same index for the same text, so that it is rendered once. */
  source(text: string, target: 'text' | 'path' = 'text'): ValueSource {
    const key = `${target}:${text}`;
    let source = this.#sources.get(key);
    if (source === undefined) {
      const template = compileTemplate(text, { target, over: this.#over });
      // Texts of a path are rendered, too: they become one char for each byte.
      source = target === 'text' ? (template.constant ?? this.#add(template)) : this.#add(template);
      this.#sources.set(key, source);
    }
    return source;
  }

  #add(template: Template): number {
    return this.#templates.push(template) - 1;
  }

  /** Rules of `name:value`; `read`: `namedFields` where names may be paths. */
  rules(texts: readonly string[], read: typeof namedValues = namedValues): readonly ValueRule[] {
    return read(texts).map(({ name, value }) => ({ name, value: this.source(value) }));
  }

  /** Call it before the first change. */
  render(context: TemplateContext): readonly string[] {
    return this.#templates.length === 0 ? none : this.#templates.map((template) => template.render(context));
  }
}

const none: readonly string[] = Object.freeze([]);

/** Rules that have a name. */
export function namedValues(texts: readonly string[]): readonly NamedValue[] {
  return texts.map((text) => namedValue(text)).filter((pair) => pair !== null);
}

/** The same for fields of a body, whose names may be paths. */
export function namedFields(texts: readonly string[]): readonly NamedValue[] {
  return texts.map((text) => namedField(text)).filter((pair) => pair !== null);
}

/** The value of a rule, among the rendered ones. */
export function resolved(source: ValueSource, rendered: readonly string[]): string {
  return typeof source === 'string' ? source : (rendered[source] as string);
}

const beyondAscii = /[^\0-\x7f]/;

/** A text as the value of a header: its bytes in UTF-8, one char for each. Otherwise a text that happens to be latin1 would be sent as latin1. */
export function headerText(text: string): string {
  return beyondAscii.test(text) ? utf8AsLatin1(text) : text;
}
