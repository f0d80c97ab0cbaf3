import type { JsonValue } from '../../plugin-kit/json/json.ts';
import { type Look, linesOf, painted, piece, type Row, type Section } from './layout.ts';
import { pluginRows } from './plugin-rows.ts';
import { type Explanation, isRouted, joined, list, member, text } from './read-explanation.ts';
import { otherRoutes, routeRows } from './route-rows.ts';

/** The explanation for a person: what happened first, then why. */
export function printExplanation(explanation: Explanation, colours: boolean): readonly string[] {
  const sections: readonly Section[] = [
    { title: 'Request', rows: requestRows(explanation) },
    { title: 'Route', rows: routeRows(explanation['router']) },
    { title: isRouted(explanation) ? 'Others' : 'Nearest', rows: otherRoutes(explanation['router']) },
    { title: 'Plugins', rows: pluginRows(list(explanation['plugins'])) },
    { title: 'Consumer', rows: consumerRows(explanation['consumer']) },
    { title: 'Service', rows: serviceRows(explanation) },
    { title: 'Balancer', rows: list(explanation['balancer']).flatMap(balancerRows) },
    { title: 'Attempts', rows: list(explanation['attempts']).map(attemptRow) },
    { title: 'Answer', rows: answerRows(explanation['answer']) },
    { title: 'Time line', rows: list(explanation['timeline']).map(momentRow) },
  ];
  return [
    painted(piece(text(explanation['summary']), 'strong'), colours),
    painted(piece(text(explanation['note']), 'dim'), colours),
    ...sections.flatMap((section) => {
      const lines = linesOf([section], colours);
      return lines.length === 0 ? [] : ['', ...lines];
    }),
  ];
}

function requestRows({ request }: Explanation): readonly Row[] {
  const of = (name: string): string => text(member(request, name));
  const query = of('query') === '' ? '' : `?${of('query')}`;
  const sent = of('path_as_sent');
  const client = member(request, 'client');
  return [
    [
      piece(
        `${of('method')} ${of('scheme')}://${of('host')}${sent}${query}, HTTP/${of('http_version')}, body: ${of('body')}`,
      ),
    ],
    ...(of('path') === sent || of('path') === '' ? [] : [[piece(`the path is read as ${of('path')}`)]]),
    [piece(`client ${text(member(client, 'ip'))}: ${text(member(client, 'because'))}`, 'dim')],
  ];
}

function consumerRows(consumer: JsonValue | undefined): readonly Row[] {
  const id = text(member(consumer, 'id'));
  if (id === '') return [];
  const name = text(member(consumer, 'username')) || text(member(consumer, 'custom_id'));
  return [[piece(name === '' ? id : name), piece(name === '' ? '' : id, 'dim')]];
}

function serviceRows(explanation: Explanation): readonly Row[] {
  const { service, upstream_request: sent } = explanation;
  const of = (name: string): string => text(member(service, name));
  if (of('id') === '') return [];
  const place = of('upstream') === '' ? `${of('host')}:${of('port')}` : `upstream ${of('upstream')}`;
  const rows: Row[] = [[piece(of('name') || of('id')), piece(`${of('protocol')}, ${place}${of('path')}`)]];
  const uri = text(member(sent, 'uri'));
  const verb = explanation['carried_out'] === true ? 'got' : 'would get';
  if (uri !== '') rows.push([piece(`it ${verb} ${text(member(sent, 'method'))} ${uri}`)]);
  return rows;
}

function balancerRows(choice: JsonValue): readonly Row[] {
  const upstream = text(member(choice, 'upstream'));
  const chosen = text(member(choice, 'chosen'));
  const first: Row =
    chosen === ''
      ? [piece(`upstream ${upstream}`), piece(`no address: ${text(member(choice, 'reason'))}`, 'bad')]
      : [piece(`upstream ${upstream}`), piece(`chose ${chosen}`)];
  const others = list(member(choice, 'others')).map((other): Row => {
    const because = text(member(other, 'because'));
    return [
      piece(`  ${text(member(other, 'address'))}`, 'dim'),
      piece(because, /^could|^healthy/.test(because) ? 'dim' : 'warning'),
    ];
  });
  const more = Number(text(member(choice, 'more')));
  return [first, ...others, ...(more > 0 ? [[piece(`  and ${more} more`, 'dim')]] : [])];
}

function attemptRow(attempt: JsonValue): Row {
  const of = (name: string): string => text(member(attempt, name));
  const failed = member(attempt, 'failed') === true;
  const status = of('status');
  const why = of('error') === '' ? of('cause') : of('cause') === '' ? of('error') : `${of('error')} (${of('cause')})`;
  const result = failed ? `failed: ${why}` : status === '' ? 'not answered' : `answered ${status}`;
  const caller = of('called_by');
  return [
    piece(caller === '' ? of('try') : `${of('try')} (called by ${caller})`),
    piece(of('address')),
    piece(duration(of('ms'))),
    piece(`${of('connection')} connection`.replace('kept open connection', 'kept-open connection'), 'dim'),
    piece(result, failed ? 'bad' : statusLook(status)),
  ];
}

function answerRows(answer: JsonValue | undefined): readonly Row[] {
  const of = (name: string): string => text(member(answer, name));
  if (of('status') === '') return [];
  const who = of('who') === '' ? of('by') : `${of('by')} ${of('who')}`;
  const complete = member(answer, 'complete') === true ? '' : ', not complete';
  const cause = text(member(member(answer, 'error'), 'cause'));
  const headers = member(answer, 'headers');
  const lines =
    typeof headers === 'object' && headers !== null && !Array.isArray(headers)
      ? Object.entries(headers).map(
          ([name, value]): Row => [
            piece(`${name}: ${Array.isArray(value) ? joined(value) : text(value as JsonValue)}`, 'dim'),
          ],
        )
      : [];
  return [
    [
      piece(of('status'), statusLook(of('status'))),
      piece(`by ${who}; head after ${fixed(of('head_ms'))} ms; ${of('body_bytes')} bytes of body${complete}`),
    ],
    ...(cause === '' ? [] : [[piece('because', 'dim'), piece(cause, 'bad')]]),
    ...lines,
  ];
}

function momentRow(moment: JsonValue): Row {
  const ms = text(member(moment, 'ms'));
  return [
    piece(`${fixed(text(member(moment, 'at')))} ms`.padStart(12)),
    piece(ms === '0' ? '' : ms === '' ? 'open' : `+${fixed(ms)}`, 'dim'),
    piece(text(member(moment, 'what'))),
  ];
}

function duration(ms: string): string {
  return ms === '' ? 'not ended' : `${fixed(ms)} ms`;
}

function fixed(ms: string): string {
  return Number(ms).toFixed(2);
}

function statusLook(status: string): Look {
  if (/^[123]/.test(status)) return 'good';
  return status === '' ? 'plain' : 'bad';
}
