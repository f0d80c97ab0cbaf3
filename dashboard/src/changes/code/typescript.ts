import { isObject } from '../../forms/value.ts';
import type { PlannedWrite } from '../planned-write.ts';
import type { CodeOptions } from './curl.ts';

/** A module for Node 20 or later, which needs no package. */
export function typescriptText(writes: readonly PlannedWrite[], { address, signed }: CodeOptions): string {
  const head = [
    '/** An entity of the Admin API. */',
    'interface Entity {',
    '  readonly id: string;',
    '  readonly [field: string]: unknown;',
    '}',
    '',
    `const admin: string = process.env['SLUICEGATE_ADMIN'] ?? ${literal(address, '')};`,
    ...(signed ? [`const token: string = process.env['SLUICEGATE_TOKEN'] ?? '';`] : []),
    '',
    'async function send(method: string, path: string, body?: object): Promise<Entity | null> {',
    '  const response = await fetch(admin + path, {',
    '    method,',
    `    headers: { ${signed ? "authorization: 'Bearer ' + token, " : ''}'content-type': 'application/json' },`,
    '    ...(body === undefined ? {} : { body: JSON.stringify(body) }),',
    '  });',
    '  const text = await response.text();',
    "  if (!response.ok) throw new Error([method, path, response.status, text].join(' '));",
    "  return text === '' ? null : (JSON.parse(text) as Entity);",
    '}',
    '',
  ];
  const calls = writes.map(({ method, path, body }) => {
    const rest = body === undefined ? '' : `, ${literal(body, '')}`;
    return `console.log(await send('${method}', ${literal(path, '')}${rest}));`;
  });
  return [...head, ...calls, '', 'export {};', ''].join('\n');
}

/** A value as an expression. `indent`: of the line in which it begins. */
function literal(value: unknown, indent: string): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => `${inner}${literal(item, inner)},\n`).join('')}${indent}]`;
  }
  if (isObject(value)) {
    const entries = Object.entries(value);
    if (entries.length === 0) return '{}';
    return `{\n${entries.map(([name, item]) => `${inner}${keyText(name)}: ${literal(item, inner)},\n`).join('')}${indent}}`;
  }
  return JSON.stringify(value ?? null);
}

/** In a literal, `__proto__` would not be a member like others. */
function keyText(name: string): string {
  if (name === '__proto__') return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
