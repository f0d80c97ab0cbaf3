import { mediaType } from '../../plugin-kit/http/index.ts';
import { BodySyntaxError, type JsonObject, type JsonValue, parseJson, setMember } from '../../plugin-kit/json/index.ts';
import { type AccessContext, type Reply, refuse } from '../../plugin-sdk/index.ts';

/** The client's body as a value: JSON, or the fields of a form. Undefined: there is no body. `reply`: it is invalid. */
export async function readClientBody(
  context: AccessContext,
): Promise<{ readonly value: JsonValue | undefined } | { readonly reply: Reply }> {
  const body = await context.decodedBody();
  if (body.byteLength === 0) return { value: undefined };
  const header = context.request.header('content-type');
  const type = mediaType(header);
  if (type?.isForm === true) return { value: fieldsOf(Buffer.from(body).toString('utf8')) };
  if (header !== null && type?.isJson !== true) return { reply: refuse(415, 'The body must be JSON or a form') };
  try {
    return { value: parseJson(body) };
  } catch (error) {
    if (error instanceof BodySyntaxError) return { reply: refuse(400, sentence(error.message)) };
    throw error;
  }
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A field that occurs several times becomes a list. */
function fieldsOf(form: string): JsonObject {
  const fields: JsonObject = {};
  for (const [name, value] of new URLSearchParams(form)) {
    const known = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (known === undefined) setMember(fields, name, value);
    else if (Array.isArray(known)) known.push(value);
    else setMember(fields, name, [known, value]);
  }
  return fields;
}
