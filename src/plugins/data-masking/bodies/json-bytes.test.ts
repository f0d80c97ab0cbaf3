import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileJsonPaths, type JsonValue, setMember } from '../../../plugin-kit/json/index.ts';
import { compileRules } from '../rules/rules.ts';
import { Dice } from '../testing/dice.ts';
import { ruleConfig } from '../testing/rule-config.ts';
import { JsonMasker } from './json-body.ts';
import { JsonBytesMasker } from './json-bytes.ts';

/*
 * Masking the bytes of random bodies gives what an implementation gives that parses, masks and writes them. A failure names its
 * seed: SEED=<number> repeats it.
 */

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const rounds = 1000;
const texts = ['***', 'a "quoted" \\ text'] as const;

/** Name null: every child. */
interface Step {
  readonly deep: boolean;
  readonly name: string | null;
}
type Path = readonly Step[];

const names = ['a', 'b', 'ab', '', 'é', '漢', '😀', 'a"b', 'a\\b', '/', '__proto__', 'toString', '\n', 'Ab', '.'];

/** Of three steps at most; without any it leads to the whole body. */
function randomPath(dice: Dice): Path {
  return Array.from({ length: dice.below(4) }, () => ({
    deep: dice.below(4) === 0,
    name: dice.below(4) === 0 ? null : dice.one(names),
  }));
}

function pathText(path: Path): string {
  const steps = path.map(({ deep, name }) => `${deep ? '..' : ''}[${name === null ? '*' : JSON.stringify(name)}]`);
  return `$${steps.join('')}`;
}

/** A string in one of its many spellings. */
function spelled(dice: Dice, text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => {
    const unit = text.charAt(at);
    const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
    const escaped = `\\u${dice.below(2) === 0 ? digits : digits.toUpperCase()}`;
    if (dice.below(6) === 0) return escaped;
    return unit === '/' && dice.below(2) === 0 ? '\\/' : JSON.stringify(unit).slice(1, -1);
  });
  // UTF-8 has no single surrogates: one that lost its partner to an escape is escaped, too.
  const joined = units.join('');
  return `"${joined.isWellFormed() ? joined : JSON.stringify(text).slice(1, -1)}"`;
}

function space(dice: Dice): string {
  return dice.below(8) === 0 ? dice.one([' ', '\n', '\r\n\t', '   ']) : '';
}

/** The text of a value. `repeats`: names may occur twice in an object. */
function randomJson(dice: Dice, depth: number, repeats: boolean): string {
  const kind = dice.below(depth > 4 ? 5 : 9);
  const inner = () => `${space(dice)}${randomJson(dice, depth + 1, repeats)}${space(dice)}`;
  if (kind < 2)
    return spelled(dice, dice.one(['', 'secret', dice.word(), dice.word(), '\ud83d\ude00', '\ud800', '\u0001']));
  if (kind === 2) return dice.one(['0', '-1', '12.5', '1234567890123', '1e-7', '12345678901234567890']);
  if (kind === 3) return dice.one(['true', 'false']);
  if (kind === 4) return 'null';
  const size = dice.below(depth === 0 ? 60 : 5);
  if (kind < 7) return `[${Array.from({ length: size }, inner).join(',')}${size === 0 ? space(dice) : ''}]`;
  const all = Array.from({ length: size }, () => (dice.below(3) > 0 ? dice.one(names) : `${dice.word()}x`));
  const members = repeats ? all : [...new Set(all)];
  return `{${members.map((name) => `${space(dice)}${spelled(dice, name)}${space(dice)}:${inner()}`).join(',')}}`;
}

/** A masked copy of a parsed value. `paths`: for each rule, what is left of its paths here. */
function plainMask(value: JsonValue, paths: readonly (readonly Path[])[]): JsonValue {
  const rule = paths.findIndex((rest) => rest.some((path) => path.length === 0));
  if (rule >= 0) return value === null || value === '' ? value : (texts[rule] as string);
  if (typeof value !== 'object' || value === null) return value;
  const below = (name: string | null) =>
    paths.map((rest) =>
      rest.flatMap(([step, ...others]) => {
        const matches = step !== undefined && (step.name === null || step.name === name);
        return [...(step?.deep === true ? [[step, ...others]] : []), ...(matches ? [others] : [])];
      }),
    );
  if (Array.isArray(value)) return value.map((element) => plainMask(element, below(null)));
  const masked: { [name: string]: JsonValue } = {};
  for (const [name, member] of Object.entries(value as { [name: string]: JsonValue })) {
    setMember(masked, name, plainMask(member, below(name)));
  }
  return masked;
}

function parsed(text: string): JsonValue {
  return JSON.parse(text) as JsonValue;
}

function maskers(paths: readonly (readonly Path[])[]) {
  const lists = paths.map((rest) => rest.map(pathText));
  const rules = lists.map((json_paths, at) => ruleConfig({ json_paths, text: texts[at] as string }));
  const constants = texts.map((text) => Buffer.from(JSON.stringify(text)));
  return {
    whole: new JsonMasker(compileRules(rules, null)),
    bytes: new JsonBytesMasker(compileJsonPaths(lists).start, constants),
  };
}

test('random bodies are masked as by parsing, masking and writing them', () => {
  let inOnePass = 0;
  for (let round = 0; round < rounds; round++) {
    const dice = new Dice(seed + round);
    const paths = texts.map(() => Array.from({ length: 1 + dice.below(3) }, () => randomPath(dice)));
    const repeats = dice.below(3) === 0;
    const text = `${space(dice)}${randomJson(dice, 0, repeats)}${space(dice)}`;
    const { whole, bytes } = maskers(paths);
    const why = `SEED=${seed + round}: ${paths.map((rest) => rest.map(pathText).join(' ')).join(' | ')} in ${text}`;
    const expected = JSON.stringify(plainMask(parsed(text), paths));
    const masked = Buffer.from(whole.body(Buffer.from(text))).toString();
    assert.equal(JSON.stringify(parsed(masked)), expected, why);
    // `JSON.parse` changes these numbers.
    if (!/1e-7|12345678901234567890/.test(text)) assert.equal(masked, expected, why);
    const passed = bytes.mask(Buffer.from(text));
    if (!repeats) assert.equal(passed?.toString(), masked, why);
    if (passed !== null) inOnePass++;
    else assert.ok(repeats, why);
  }
  assert.ok(inOnePass > rounds / 2, `${inOnePass} of ${rounds}`);
});

test('random damage is refused exactly when the body is not JSON, and reveals nothing', () => {
  let refused = 0;
  for (let round = 0; round < rounds; round++) {
    const dice = new Dice(seed + round);
    const paths = texts.map(() => [randomPath(dice)]);
    const text = randomJson(dice, 0, dice.below(2) === 0);
    const at = dice.below(text.length + 1);
    const piece = dice.one([
      '',
      '',
      '"',
      '\\',
      '\\u12',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '0',
      '-',
      '.',
      'e',
      '\0',
      '\t',
      ' ',
      '\ufeff',
    ]);
    const damaged = Buffer.from(
      `${text.slice(0, at)}${piece}${dice.below(3) === 0 ? '' : text.slice(at + dice.below(3))}`,
    );
    const { whole, bytes } = maskers(paths);
    const why = `SEED=${seed + round}: ${damaged.toString()}`;
    let expected: string | null;
    try {
      expected = JSON.stringify(plainMask(parsed(damaged.toString().replace(/^\ufeff/, '')), paths));
    } catch {
      expected = null;
    }
    if (expected === null) {
      assert.equal(bytes.mask(damaged), null, why);
      assert.throws(() => whole.body(damaged), /not valid JSON/, why);
      refused++;
    } else assert.equal(JSON.stringify(parsed(Buffer.from(whole.body(damaged)).toString())), expected, why);
  }
  assert.ok(refused > rounds / 10 && refused < rounds, `${refused} of ${rounds}`);
});

const one = new JsonBytesMasker(compileJsonPaths([['$..secret']]).start, [Buffer.from('"***"')]);
const passed = (text: string) => one.mask(Buffer.from(text))?.toString() ?? null;

test('every escape is written as by JSON.stringify', () => {
  for (let unit = 0; unit < 0x10000; unit++) {
    const text = `"\\u${unit.toString(16).padStart(4, '0')}"`;
    assert.equal(passed(text), JSON.stringify(JSON.parse(text)), text);
  }
  for (const text of [
    '"\\ud83d\\ude00"',
    '"\\ud83d\\ud83d\\ude00\\ude00"',
    '"\\ud83d \\ude00"',
    '"\\ud83dx"',
    '"\\/\\"\\\\"',
  ])
    assert.equal(passed(text), JSON.stringify(JSON.parse(text)), text);
  for (const text of ['"\\x"', '"\\u00g0"', '"\\u12"', '"\\', '"\t"', '"']) assert.equal(passed(text), null, text);
});

test('escapes do not hide a name', () => {
  assert.equal(
    passed('{"s\\u0065cret":1,"b":{"\\u0073\\u0065\\u0063\\u0072\\u0065\\u0074":"x"}}'),
    '{"secret":"***","b":{"secret":"***"}}',
  );
  assert.equal(passed('{"secre\\t":1}'), '{"secre\\t":1}');
});

test('a body with a name twice is left to the parser, however the name is spelled', () => {
  const many = Array.from({ length: 100 }, (_, at) => `"n${at}":${at}`).join(',');
  assert.equal(passed(`{${many}}`), `{${many}}`);
  for (const text of [
    '{"secret":1,"secret":2}',
    '{"secret":1,"\\u0073ecret":2}',
    '[{"a":{"x":1,"x":2}}]',
    '{"secret":{"x":1,"x":2}}',
    `{${many},"n0":1}`,
    `{${many},"n\\u00399":1}`,
  ])
    assert.equal(passed(text), null, text);
  assert.equal(passed('[{"x":{"x":1},"y":1},{"x":1,"y":{"x":2}}]'), '[{"x":{"x":1},"y":1},{"x":1,"y":{"x":2}}]');
});

test('numbers keep their text, and members their order', () => {
  const text = '{"b":12.50,"1":-0,"a":1E+2,"0":0.10}';
  assert.equal(passed(text), text);
  for (const number of ['01', '-', '+1', '.5', '1.', '1e', '1e+', '0x1', '- 1', '1 2', 'NaN']) {
    assert.equal(passed(number), null, number);
    assert.equal(passed(`[${number}]`), null, number);
  }
});

test('512 levels are masked, and 513 are left to the parser, which refuses them', () => {
  const nested = (depth: number, value: string) => `${'['.repeat(depth)}${value}${']'.repeat(depth)}`;
  assert.equal(passed(nested(511, '{"secret":"x"}')), nested(511, '{"secret":"***"}'));
  assert.equal(passed(nested(512, '{"secret":"x"}')), null);
});
