/** The path of a route that matches exactly the paths of an OpenAPI template: `/users/{id}` is `~/users/(?<id>[^/]+)$`. */
export function routePath(template: string): string {
  const names = new Set<string>();
  const parts = template.split(/\{([^{}]+)\}/);
  const source = parts.map((part, at) => (at % 2 === 0 ? escaped(part) : `(?<${captureName(part, names)}>[^/]+)`));
  return `~${source.join('')}$`;
}

const maxSegments = 20;

/** When several templates match a path, the most specific one takes precedence: segment by segment, text before parameters. */
export function routePriority(template: string): number {
  let priority = 0;
  const segments = template.split('/').slice(1, maxSegments + 1);
  for (let at = 0; at < maxSegments; at++) {
    const segment = segments[at];
    priority = priority * 2 + (segment !== undefined && !segment.includes('{') ? 1 : 0);
  }
  return priority;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Names of captures are letters, digits and underscores. */
function captureName(name: string, names: Set<string>): string {
  const plain = name.replace(/\W/g, '_').replace(/^(?=\d)/, '_');
  let free = plain;
  for (let serial = 2; names.has(free); serial++) free = `${plain}_${serial}`;
  names.add(free);
  return free;
}
