import { bodyArguments } from '../../plugin-kit/http/index.ts';
import type { AccessContext } from '../../plugin-sdk/index.ts';

/** The parameters of a request to an endpoint, from its query and its body. */
export interface Parameters {
  /** Null if it is missing or empty (RFC 6749 3.1). */
  get(name: string): string | null;
  /** A parameter occurs twice in one place, so it is ambiguous, or is not valid Unicode. */
  readonly malformed: boolean;
}

/** Bytes. Token requests are small. */
export const maxBodyBytes = 65_536;

/** As in Kong, parameters of the body (a form or a JSON object) override those of the query. */
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

/** JSON can contain a lone surrogate, which URIs and the store cannot represent. */
function isMalformed(values: readonly string[]): boolean {
  return values.length > 1 || values[0]?.isWellFormed() === false;
}
