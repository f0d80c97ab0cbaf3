import { checkXmlPath } from '../../plugin-kit/xml/index.ts';
import {
  array,
  boolean,
  headerName,
  httpMethod,
  type Infer,
  integer,
  map,
  record,
  set,
  string,
  timeout,
  url,
} from '../../plugin-sdk/schema.ts';
import { reservedNames } from './values/reference.ts';

const xmlPath = string({ custom: xmlPathProblem });
const clientError = integer({ between: [400, 499] });

export const request = record(
  {
    name: string({
      required: true,
      match: /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
      not_one_of: reservedNames,
      description: 'Name of the part, in templates of others and in errors. It is also the default `target`.',
    }),
    service: string({
      description: 'Name or id of the service to call. Without it and `url`: the service of the route.',
    }),
    url: url({
      match: /^https?:\/\/[^/?#@{}\s\\]+(?:\/[^?#{}\s\\]*)?$/,
      err: 'must be http(s)://host[:port][/path], without references',
      description: 'URL to call instead of a service. A path in it is prepended to `path`.',
    }),
    method: httpMethod({
      required: true,
      default: 'GET',
      not_one_of: ['CONNECT', 'TRACE'],
      description: 'Method of the call.',
    }),
    path: string({
      required: true,
      starts_with: '/',
      description:
        'Path of the call, with references: `/users/{id}`. The path of the service is prepended. A value stays within its segment.',
    }),
    query: map(string(), string({ len_min: 0 }), {
      description: 'Query arguments of the call; values may have references. One without a value is left out.',
    }),
    headers: map(headerName(), string({ len_min: 0 }), {
      description: 'Headers of the call; values may have references. One without a value is left out.',
    }),
    pass_headers: set(headerName(), {
      required: true,
      default: [],
      description:
        'Headers of the client that the call forwards. Headers about the client (`X-Consumer-*`, `X-Forwarded-*`) are always sent.',
    }),
    body: string({
      description:
        'Body of the call, with references. In JSON a reference without quotation marks becomes a value: `{"user": {user.body.id}, "note": "by {consumer.username}"}`.',
    }),
    body_type: string({
      required: true,
      default: 'json',
      one_of: ['json', 'form', 'xml'],
      description: 'Format of `body`: how values in it are escaped, and its `Content-Type` unless `headers` has one.',
    }),
    timeout: timeout({ required: true, default: 5_000, description: 'Timeout of the call, including all attempts.' }),
    max_body_size: integer({
      required: true,
      default: 1_048_576,
      between: [1, 8_388_608],
      unit: 'bytes',
      description: 'Maximum size of the body of a response. A larger one is a failure.',
    }),
    format: string({
      required: true,
      default: 'auto',
      one_of: ['auto', 'json', 'xml', 'text'],
      description:
        'Format of the response: JSON, XML that is converted, or text. `auto`: by its `Content-Type`, JSON without one.',
    }),
    xml_arrays: array(xmlPath, {
      description: 'XML elements that are lists even if there is only one: `order`, `orders/order`, `/root/order`.',
    }),
    xml_numbers: array(xmlPath, { description: 'XML elements and attributes (`@id`) that are numbers.' }),
    xml_booleans: array(xmlPath, { description: 'XML elements and attributes that are booleans.' }),
    required: boolean({
      required: true,
      default: true,
      description:
        'Whether a failure of this part fails the whole request. False: the part is null then, and listed under errors.',
    }),
    pass_status: set(clientError, {
      required: true,
      default: [],
      description: 'Statuses that become the status of the whole response if the part is required. Others become 502.',
    }),
    null_on_status: set(clientError, {
      required: true,
      default: [],
      description: 'Statuses that mean that there is no such object: the part is null, which is not a failure.',
    }),
    when: string({
      description:
        'Condition of the call: `{query.expand}`, `!{query.brief}`, `{user.body.kind}=company`, `{user.body.kind}!=guest`. If it does not hold, the part is null.',
    }),
    each: string({
      description:
        'Reference to a list, such as `orders.body.data`. The call is made for each of its elements, with `{item}` and `{index}` in the templates. The part is the list of the responses, in the same order.',
    }),
    each_max: integer({
      required: true,
      default: 20,
      between: [1, 1_000],
      description: 'Maximum number of elements of `each`. A longer list is a failure.',
    }),
    each_concurrency: integer({
      required: true,
      default: 5,
      between: [1, 100],
      description: 'Number of calls of `each` that run at the same time.',
    }),
    each_into: string({
      match: /^[^[\]{}\s'"]+$/,
      description:
        'Adds each response to its element of `each` as this member. The part is then the list of these elements.',
    }),
    target: string({
      len_min: 0,
      description:
        'Place of the part in the document, as a JSONPath (RFC 9535) of names: `$.user.orders`; `$` merges it into the root. Default: its name.',
    }),
    hidden: boolean({
      required: true,
      default: false,
      description: 'Leaves the part out of the document; other parts may refer to it.',
    }),
    unwrap: string({
      description:
        'Uses only what is at this place of the response, a JSONPath (RFC 9535): `$.data`, `$.result.items[0]`. Null if nothing is there; a list if the path can lead to several places.',
    }),
    collection: string({
      required: true,
      default: 'keep',
      one_of: ['keep', 'first', 'list'],
      description:
        '`first`: a list becomes its first element, an empty one null. `list`: a single value becomes a list with one element.',
    }),
    pick: array(string(), {
      description:
        'Keeps only what these JSONPaths (RFC 9535) lead to: `$.id`, `$.orders[*].total`. A name such as `id` is that member, also of each element of a list.',
    }),
    omit: array(string(), {
      description: 'Removes what these JSONPaths (RFC 9535) lead to: `$..password`. Names as in `pick`.',
    }),
    rename: map(string(), string(), {
      description: 'Renames members: from a JSONPath (RFC 9535), `$.address.zip`, to the new name. Names as in `pick`.',
    }),
    wrap: string({ description: 'Wraps the result into an object, as the member of this name.' }),
  },
  { description: 'A part of the response, and how to get it.', checks: [{ mutually_exclusive: ['service', 'url'] }] },
);

function xmlPathProblem(path: string): string | null {
  try {
    checkXmlPath(path);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

export type PartConfig = Infer<typeof request>;
