import type { JsonValue } from '../../plugin-kit/json/json.ts';
import { piece, type Row } from './layout.ts';
import { joined, list, member, text } from './read-explanation.ts';

/** The route that matched, and by what. */
export function routeRows(router: JsonValue | undefined): readonly Row[] {
  if (member(router, 'routes') === null)
    return [[piece('not searched: the request was refused before routing', 'bad')]];
  const matched = member(router, 'matched');
  const routes = text(member(router, 'routes'));
  if (matched === null) return [[piece(`none of ${routes} matches`, 'bad')]];
  const service = text(member(matched, 'service'));
  const rows: Row[] = [
    [piece(`${nameOf(matched)}${service === '' ? '' : `, of the service ${service}`}; one of ${routes}`, 'good')],
  ];
  const conditions = list(member(matched, 'conditions'));
  if (conditions.length === 0) rows.push([piece('  it matches every request')]);
  for (const one of conditions)
    rows.push([piece(`  ${conditionName(one)}`), piece(gotText(one)), piece(`is ${wantedText(one)}`, 'dim')]);
  if (member(matched, 'strip_path') === true && conditions.some((one) => member(one, 'condition') === 'path')) {
    rows.push([piece('  the matched part is removed from the path (strip_path)', 'dim')]);
  }
  return rows;
}

/** The routes that matched most nearly, and why they were not chosen. */
export function otherRoutes(router: JsonValue | undefined): readonly Row[] {
  const disabled = list(member(router, 'disabled')).map((route): Row => {
    return [piece(nameOf(route)), piece('would match, but its service is disabled', 'warning')];
  });
  const others = list(member(router, 'others')).map((other): Row => {
    const name = piece(nameOf(other));
    if (member(other, 'matches_too') === true)
      return [name, piece(`matches too, but ${text(member(other, 'but'))}`, 'dim')];
    const failed = member(other, 'failed');
    const more = Number(text(member(other, 'more_failures')));
    const rest = more > 0 ? ` (and ${more} more)` : '';
    return [name, piece(`${conditionName(failed)} ${gotText(failed)} is not ${wantedText(failed)}${rest}`)];
  });
  return [...disabled, ...others];
}

const shownPaths = 3;

/** Its name; the paths and the id of a route without one. */
function nameOf(route: JsonValue): string {
  const name = text(member(route, 'name'));
  if (name !== '') return name;
  const paths = list(member(route, 'paths')).map(text);
  const id = text(member(route, 'id'));
  if (paths.length === 0) return id;
  const more = paths.length > shownPaths ? ` and ${paths.length - shownPaths} more` : '';
  return `${paths.slice(0, shownPaths).join(', ')}${more} (${id})`;
}

function conditionName(condition: JsonValue): string {
  const kind = text(member(condition, 'condition'));
  if (kind === 'sni') return 'TLS server name';
  return kind === 'header' ? `header ${text(member(condition, 'header'))}` : kind;
}

function gotText(condition: JsonValue): string {
  const got = list(member(condition, 'got'));
  return got.length === 0 ? '(none)' : got.map(text).join(', ');
}

function wantedText(condition: JsonValue): string {
  const wanted = list(member(condition, 'wanted'));
  const values = joined(member(condition, 'wanted'));
  if (member(condition, 'condition') === 'path')
    return values.startsWith('~') ? `matched by ${values}` : `below ${values}`;
  return wanted.length > 1 ? `one of ${values}` : values;
}
