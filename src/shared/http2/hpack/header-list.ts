/** Bytes that each field counts in addition to its name and value (RFC 7541 4.1, RFC 9113 10.5.1). */
export const fieldOverhead = 32;

/** A field as it was decoded. Fields of the tables are shared by all lists that contain them. */
export class HeaderField {
  readonly name: string;
  readonly value: string;
  /**
   * Name and value obey RFC 9113 8.2: a lower-case token that is not the name of a connection-specific field; no control
   * bytes, no blanks around the value.
   */
  readonly valid: boolean;
  readonly nameValid: boolean;
  /** The name is that of a pseudo-header field (RFC 9113 8.3), known or not. */
  readonly pseudo: boolean;
  /** As the dynamic table counts it, and SETTINGS_MAX_HEADER_LIST_SIZE. */
  readonly size: number;
  #line = '';

  constructor(name: string, value: string, nameValid: boolean, valueValid: boolean) {
    this.name = name;
    this.value = value;
    this.nameValid = nameValid;
    this.valid = nameValid && valueValid;
    this.pseudo = name.charCodeAt(0) === 58;
    this.size = name.length + value.length + fieldOverhead;
  }

  /** The field as a line of a header block; two fields if it is not valid. */
  get line(): string {
    if (this.#line === '') this.#line = `${this.name}: ${this.value}\r\n`;
    return this.#line;
  }
}

/** The fields of one header block, bounded. One list serves many blocks, one after the other. */
export class HeaderList {
  readonly fields: HeaderField[] = [];
  /** Bytes, as SETTINGS_MAX_HEADER_LIST_SIZE counts them, with those of fields that were not kept. */
  size = 0;
  /** Fields, with those that were not kept. */
  count = 0;
  /** All fields that were kept are valid. */
  valid = true;
  #maxSize = 0;
  #maxCount = 0;

  /** Empties the list. `maxSize`: bytes. */
  begin(maxSize: number, maxCount: number): void {
    this.fields.length = 0;
    this.size = 0;
    this.count = 0;
    this.valid = true;
    this.#maxSize = maxSize;
    this.#maxCount = maxCount;
  }

  /** The block has more than the list may hold: fields are missing. */
  get exceeded(): boolean {
    return this.size > this.#maxSize || this.count > this.#maxCount;
  }

  /** Counts a field. Returns whether it can be kept. */
  admit(size: number): boolean {
    this.size += size;
    this.count++;
    return !this.exceeded;
  }

  keep(field: HeaderField): void {
    if (!field.valid) this.valid = false;
    this.fields.push(field);
  }
}
