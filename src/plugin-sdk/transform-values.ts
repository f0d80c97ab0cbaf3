import { utf8AsLatin1 } from '../util/latin1.ts';
import { type NamedValue, namedValue } from './named-value.ts';
import { compileTemplate, type Template, type TemplateContext } from './templates.ts';

/** Where a rule finds its value: a text, or the place of a rendered template. */
export type ValueSource = string | number;

/** A name and where its value comes from. */
export interface ValueRule {
  readonly name: string;
  readonly value: ValueSource;
}

/**
 * The templates of a transformer. All are rendered before anything is changed, so that a rule sees the request as it came, whatever
 * the others do.
 */
export class TransformValues {
  readonly #over: 'request' | 'answer';
  readonly #templates: Template[] = [];
  readonly #sources = new Map<string, ValueSource>();

  constructor(over: 'request' | 'answer' = 'request') {
    this.#over = over;
  }

  /** The same for the same text, so that it is rendered once. */
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

  /** Rules of `name:value`. */
  rules(texts: readonly string[]): readonly ValueRule[] {
    return namedValues(texts).map(({ name, value }) => ({ name, value: this.source(value) }));
  }

  /** To be called before anything is changed. */
  render(context: TemplateContext): readonly string[] {
    return this.#templates.length === 0 ? none : this.#templates.map((template) => template.render(context));
  }
}

const none: readonly string[] = Object.freeze([]);

/** Those that have a name. */
export function namedValues(texts: readonly string[]): readonly NamedValue[] {
  return texts.map((text) => namedValue(text)).filter((pair) => pair !== null);
}

/** The value of a rule, among the rendered ones. */
export function resolved(source: ValueSource, rendered: readonly string[]): string {
  return typeof source === 'string' ? source : (rendered[source] as string);
}

const beyondAscii = /[^\0-\x7f]/;

/** A text as the value of a header: its bytes in UTF-8, one char for each. Without, what is latin1 by chance would be sent as that. */
export function headerText(text: string): string {
  return beyondAscii.test(text) ? utf8AsLatin1(text) : text;
}
