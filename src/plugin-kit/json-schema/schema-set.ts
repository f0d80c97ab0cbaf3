import type { Ajv, ValidateFunction } from 'ajv';
import { compileWith, newValidator, type SchemaCheck, schemaCheck } from './compile-schema.ts';
import type { CoreDialect } from './dialect.ts';
import { referTo } from './keywords.ts';
import type { PreparedSchema } from './prepare-schema.ts';

interface Compiler {
  readonly ajv: Ajv;
  readonly compiled: Map<string, ValidateFunction>;
}

/**
 * Schemas that refer to each other by name. Each is compiled once, when a value first reaches it: in a large document one schema
 * can refer to hundreds of others. Keywords that count members or items across references (`unevaluatedProperties`,
 * `unevaluatedItems`) do not look through them.
 */
export class SchemaSet {
  readonly #core: CoreDialect;
  readonly #schemaOf: (name: string) => PreparedSchema['schema'];
  #first: Compiler | null = null;
  #all: Compiler | null = null;

  /** `schemaOf`: resolves a `$ref`. */
  constructor(core: CoreDialect, schemaOf: (name: string) => PreparedSchema['schema']) {
    this.#core = core;
    this.#schemaOf = schemaOf;
  }

  check(name: string): SchemaCheck {
    return schemaCheck(
      () => this.#validator(this.#firstCompiler(), name),
      () => this.#validator(this.#allCompiler(), name),
    );
  }

  /** Throws a `SchemaError` when it cannot be compiled. */
  compile(name: string): void {
    this.#validator(this.#firstCompiler(), name);
  }

  #firstCompiler(): Compiler {
    this.#first ??= this.#newCompiler(false);
    return this.#first;
  }

  #allCompiler(): Compiler {
    this.#all ??= this.#newCompiler(true);
    return this.#all;
  }

  #newCompiler(all: boolean): Compiler {
    const compiler = { ajv: newValidator(this.#core, all), compiled: new Map<string, ValidateFunction>() };
    referTo(compiler.ajv, (name) => this.#validator(compiler, name));
    return compiler;
  }

  #validator({ ajv, compiled }: Compiler, name: string): ValidateFunction {
    let validate = compiled.get(name);
    if (validate === undefined) {
      validate = compileWith(ajv, this.#schemaOf(name));
      compiled.set(name, validate);
    }
    return validate;
  }
}
