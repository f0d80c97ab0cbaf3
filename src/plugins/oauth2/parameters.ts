import { type AccessContext, bodyArguments } from '../../plugin-sdk/index.ts';

/** The parameters of a request to an endpoint, from its query and its body. */
export interface Parameters {
  /** Null when it is missing or, as RFC 6749 3.1 has it, empty. */
  get(name: string): string | null;
  /** Some parameter is given twice in one place, so it could be read in more than one way, or is no Unicode text. */
  readonly malformed: boolean;
}

/** Requests for tokens are small. */
export const maxBodyBytes = 65_536;

/** Kong takes parameters of the body, a form or a JSON object, before those of the query. */
export async function readParameters(context: AccessContext): Promise<Parameters> {
  const { request } = context;
  const inQuery = request.queryArguments();
  const inBody = bodyArguments(request.header('content-type'), await context.body());
  return {
    get(name) {
      const value = inBody?.get(name)?.[0] ?? '';
      if (value !== '') return value;
      const other = inQuery[name]?.[0] ?? '';
      return other === '' ? null : other;
    },
    malformed: [...(inBody?.values() ?? []), ...Object.values(inQuery)].some(isMalformed),
  };
}

/** JSON can spell half a surrogate pair, which no URI or store can hold. */
function isMalformed(values: readonly string[]): boolean {
  return values.length > 1 || values[0]?.isWellFormed() === false;
}
