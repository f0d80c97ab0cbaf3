import { isJsonObject, type JsonValue } from '../../../plugin-kit/json/index.ts';

/** The schemes that security requirements name. */
export function namesOf(requirements: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(requirements)) return [];
  return requirements.flatMap((one) => (isJsonObject(one) ? Object.keys(one) : []));
}
