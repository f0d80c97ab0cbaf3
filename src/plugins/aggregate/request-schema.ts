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
import { checkXmlPath } from '../../plugin-sdk/xml-paths.ts';
import { reservedNames } from './reference.ts';

const xmlPath = string({ custom: xmlPathProblem });
const clientError = integer({ between: [400, 499] });

export const request = record(
  {
    name: string({
      required: true,
      match: /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
      not_one_of: reservedNames,
      description: 'Name of the part: in templates of others, in errors, and by default where it lands.',
    }),
    service: string({
      description: 'Name or id of the service to ask. Without it and `url`: the service of the route.',
    }),
    url: url({
      match: /^https?:\/\/[^/?#@{}\s\\]+(?:\/[^?#{}\s\\]*)?$/,
      err: 'must be http(s)://host[:port][/path], without references',
      description: 'Address to ask in place of a service. A path in it goes before `path`.',
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
        "Path of the call, with references: `/users/{id}`. The service's path goes before it. What a reference gives stays within its segment.",
    }),
    query: map(string(), string({ len_min: 0 }), {
      description: 'Query arguments of the call, values with references. One without a value is left out.',
    }),
    headers: map(headerName(), string({ len_min: 0 }), {
      description: 'Headers of the call, values with references. One without a value is left out.',
    }),
    pass_headers: set(headerName(), {
      required: true,
      default: [],
      description:
        "Headers of the client's request that the call has, too. Who the client is (`X-Consumer-*`) and where it comes from (`X-Forwarded-*`) is always told.",
    }),
    body: string({
      description:
        'Body of the call, with references. In JSON one without quotation marks becomes a value: `{"user": {user.body.id}, "note": "by {consumer.username}"}`.',
    }),
    body_type: string({
      required: true,
      default: 'json',
      one_of: ['json', 'form', 'xml'],
      description:
        'What `body` is: how values in it are escaped, and its `Content-Type` unless `headers` names another.',
    }),
    timeout: timeout({ required: true, default: 5_000, description: 'Time for the call, all attempts included.' }),
    max_body_size: integer({
      required: true,
      default: 1_048_576,
      between: [1, 8_388_608],
      unit: 'bytes',
      description: 'Largest body of an answer. A larger one is a failure.',
    }),
    format: string({
      required: true,
      default: 'auto',
      one_of: ['auto', 'json', 'xml', 'text'],
      description:
        'What the answer is: JSON, XML that is converted, or a text. `auto`: as its `Content-Type` says, JSON without one.',
    }),
    xml_arrays: array(xmlPath, {
      description:
        'Elements of XML that are lists also when there is one of them: `order`, `orders/order`, `/root/order`.',
    }),
    xml_numbers: array(xmlPath, { description: 'Elements and attributes (`@id`) of XML that are numbers.' }),
    xml_booleans: array(xmlPath, { description: 'Elements and attributes of XML that are true or false.' }),
    required: boolean({
      required: true,
      default: true,
      description:
        'Without it there is no answer: its failure is the failure of the whole. False: it is null then, and stands in the list of errors.',
    }),
    pass_status: set(clientError, {
      required: true,
      default: [],
      description:
        'Statuses of its answer that become the status of the whole when the part is required. Others become 502.',
    }),
    null_on_status: set(clientError, {
      required: true,
      default: [],
      description:
        'Statuses of its answer that mean that there is no such thing: the part is null, and that is no failure.',
    }),
    when: string({
      description:
        'Asks only if it holds: `{query.expand}`, `!{query.brief}`, `{user.body.kind}=company`, `{user.body.kind}!=guest`. Otherwise the part is null.',
    }),
    each: string({
      description:
        'A list, such as `orders.body.data`: the call is made for each of its elements, `{item}` and `{index}` in the templates. The part is the list of the answers, in the same order.',
    }),
    each_max: integer({
      required: true,
      default: 20,
      between: [1, 1_000],
      description: 'Most elements of `each`. A longer list is a failure.',
    }),
    each_concurrency: integer({
      required: true,
      default: 5,
      between: [1, 100],
      description: 'Calls of `each` that are under way at the same time.',
    }),
    each_into: string({
      match: /^[^[\]{}\s'"]+$/,
      description:
        'The list has the elements of `each`, each with its answer as this member, in place of the answers alone.',
    }),
    target: string({
      len_min: 0,
      description:
        'Where the part lands in the document: `user.orders`; `.` merges it into the root. Default: its name.',
    }),
    hidden: boolean({
      required: true,
      default: false,
      description: 'It is not in the document: only other parts refer to it.',
    }),
    unwrap: string({
      description: 'Takes this member of the answer: `data`, `result.items[0]`. Null when it has none.',
    }),
    collection: string({
      required: true,
      default: 'keep',
      one_of: ['keep', 'first', 'list'],
      description:
        '`first`: a list becomes its first element, an empty one null. `list`: what is not a list becomes one with a single element.',
    }),
    pick: array(string(), {
      description: 'Keeps these members only: `id`, `address.city`. Lists on the way are gone through.',
    }),
    omit: array(string(), { description: 'Leaves these members out.' }),
    rename: map(string(), string(), {
      description: 'Gives members another name: `mail` or `address.zip` to the new one.',
    }),
    wrap: string({ description: 'Puts what is left into an object, as the member of this name.' }),
  },
  { description: 'A part of the answer, and how to get it.', checks: [{ mutually_exclusive: ['service', 'url'] }] },
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
