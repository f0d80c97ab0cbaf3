import type { RequestView } from '../../../plugin-sdk/request-views.ts';
import type { SchemaCheck } from '../compile-schema.ts';
import type { PreparedSchema } from '../prepare-schema.ts';
import type { Shape } from '../shape.ts';
import type { ParameterPlace, ParameterStyle } from './parameter-styles.ts';
import type { RawArgument } from './raw-arguments.ts';

export interface ParameterOptions {
  readonly name: string;
  readonly in: ParameterPlace;
  readonly required: boolean;
  /** Default: `form` in query and cookies, `simple` in path and headers. */
  readonly style?: ParameterStyle;
  /** Default: true with `form`, otherwise false. */
  readonly explode?: boolean;
  /** An empty value is valid. Default: false. */
  readonly allowEmpty?: boolean;
  /** The value is JSON. Default: false. */
  readonly json?: boolean;
  /** Null: any value is valid. */
  readonly schema: PreparedSchema | null;
  /** The same schema, compiled. Default: it is compiled at once. */
  readonly check?: SchemaCheck;
}

/** A parameter of OpenAPI, compiled. */
export interface Parameter extends Required<Omit<ParameterOptions, 'schema' | 'check'>> {
  readonly shape: Shape;
  readonly check: SchemaCheck | null;
}

/** Where parameters are read from. */
export interface ParameterSource {
  readonly request: RequestView;
  readonly query: readonly RawArgument[];
  /** By name; percent-encoded. */
  readonly path: ReadonlyMap<string, string>;
}
