import { type BodyFormat, type BodyType, bodyTypes, maskableFormats } from './body-types.ts';
import { UnreadableBody } from './faults.ts';
import { fieldMask, maskedForm, nameMask } from './form-body.ts';
import { JsonMasker } from './json-body.ts';
import { maskedMultipart } from './multipart-body.ts';
import type { Rule } from './rules.ts';
import { maskedText } from './text-body.ts';
import type { XmlMasker } from './xml-body.ts';

/** Masks bodies by some of an instance's rules: those of one direction that hold for one client. */
export class BodyMasker {
  /** How a body of this type is read. */
  readonly typeOf: (contentType: string | null) => BodyType;
  readonly #rules: readonly Rule[];
  readonly #json: JsonMasker;
  readonly #field: ReturnType<typeof fieldMask>;
  readonly #name: ReturnType<typeof nameMask>;
  /** Made when the first such body comes, and so is the parser loaded. */
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

  /** Hashes and expressions without backtracking take longer than the rest. */
  get slow(): boolean {
    return this.#rules.some(({ config }) => config.action === 'hash' || (config.patterns?.length ?? 0) > 0);
  }

  get costly(): boolean {
    return this.#json.costly;
  }

  /**
   * The body, masked. Throws, or rejects with, a `BodySyntaxError`, an error of the XML reader or an `UnreadableBody` when it is not what
   * its type says.
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

  /** A file of a form. Forms within forms are not read. */
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
