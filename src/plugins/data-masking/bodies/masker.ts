import { UnreadableBody } from '../refusals.ts';
import type { Rule } from '../rules/rules.ts';
import { type BodyFormat, type BodyType, bodyTypes, maskableFormats } from './body-types.ts';
import { fieldMask, maskedForm, nameMask } from './form-body.ts';
import { JsonMasker } from './json-body.ts';
import { maskedMultipart } from './multipart-body.ts';
import { maskedText } from './text-body.ts';
import type { XmlMasker } from './xml-body.ts';

/** Masks bodies with the rules of one direction that apply to a client. */
export class BodyMasker {
  /** How bodies of a type are parsed. */
  readonly typeOf: (contentType: string | null) => BodyType;
  readonly #rules: readonly Rule[];
  readonly #json: JsonMasker;
  readonly #field: ReturnType<typeof fieldMask>;
  readonly #name: ReturnType<typeof nameMask>;
  /** Created with the first XML body, which also loads the parser. */
  #xml: Promise<XmlMasker> | null = null;

  constructor(rules: readonly Rule[], passing: readonly string[]) {
    this.#rules = rules;
    this.typeOf = bodyTypes(maskableFormats(rules), passing);
    this.#json = new JsonMasker(rules);
    this.#field = fieldMask(
      rules,
      ({ config }) => config.form_fields,
      ({ inBodies }) => inBodies,
    );
    this.#name = nameMask(rules);
  }

  /** Hashes and patterns take longer than other rules. */
  get slow(): boolean {
    return this.#rules.some(({ config }) => config.action === 'hash' || (config.patterns?.length ?? 0) > 0);
  }

  get costly(): boolean {
    return this.#json.costly;
  }

  /**
   * Returns the masked body. Throws, or rejects with, a `BodySyntaxError`, an error of the XML parser or an `UnreadableBody` if
   * the body does not match its type.
   */
  mask(contentType: string, body: Uint8Array): Uint8Array | Promise<Uint8Array> {
    const { format, charset } = this.typeOf(contentType);
    switch (format) {
      case 'json':
        return this.#json.body(body);
      case 'lines':
        return this.#json.lines(body);
      case 'form':
        return maskedForm(body, this.#field, this.#name);
      case 'text':
        return maskedText(body, charset, this.#rules);
      case 'xml':
        return this.#maskXml(contentType, body);
      case 'multipart':
        return maskedMultipart(body, contentType, {
          field: this.#field,
          name: this.#name,
          file: (type, part) => this.#maskFile(type, part),
        });
      case 'pass':
        return body;
      default:
        throw new UnreadableBody('bodies of this type are not accepted');
    }
  }

  /** Masks a file of a form. Nested forms are refused. */
  #maskFile(contentType: string, body: Uint8Array): Uint8Array | Promise<Uint8Array> {
    if (this.typeOf(contentType).format === 'multipart') {
      throw new UnreadableBody('a part of the body is of a type that is not accepted');
    }
    return this.mask(contentType, body);
  }

  async #maskXml(contentType: string, body: Uint8Array): Promise<Uint8Array> {
    this.#xml ??= import('./xml-body.ts').then(({ XmlMasker }) => new XmlMasker(this.#rules));
    return (await this.#xml).body(body, contentType);
  }
}

export type { BodyFormat };
