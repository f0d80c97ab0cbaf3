import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyMasker } from './bodies/masker.ts';
import { compileRules } from './rules/rules.ts';
import { Dice } from './testing/dice.ts';
import { type RuleInput, ruleConfig } from './testing/rule-config.ts';

/*
 * Secrets in random places of random bodies: none remains, with any surrounding text and any encoding. A failure names its
 * seed: SEED=<number> repeats it.
 */

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const rounds = 400;

/** A secret, and the text that must not be found. */
interface Secret {
  readonly text: string;
  readonly mark: string;
}

const cards = ['4111111111111111', '5555555555554444', '378282246310005', '6011111111111117', '4000056655665556'];
const ibans = ['DE89370400440532013000', 'GB82WEST12345698765432', 'NO9386011117947', 'FR1420041010050500013M02606'];

function secret(dice: Dice, serial: number): Secret {
  const mark = `planted${serial}x`;
  switch (dice.below(6)) {
    case 0:
      return { text: `${mark}@${dice.one(['example.com', 'sub.example.co.uk', 'münchen.de'])}`, mark };
    case 1: {
      const card = dice.one(cards);
      const gap = dice.one(['', ' ', '-']);
      return { text: card.replace(/\d{4}(?=\d)/g, `$&${gap}`), mark: card.slice(-6, -1) };
    }
    case 2: {
      const iban = dice.one(ibans);
      return { text: dice.one([iban, iban.replace(/.{4}(?=.)/g, '$& ')]), mark: iban.slice(4, 8) };
    }
    case 3:
      return {
        text: dice.one(['+44 20 7946 0958', '(212) 555-0100', '0049 30 1234567']),
        mark: dice.one(['0958', '0100', '4567']),
      };
    case 4:
      return dice.one([
        { text: '192.0.2.77', mark: '.2.77' },
        { text: '2001:db8::77ab', mark: '77ab' },
      ]);
    default:
      return { text: `eyJhbGciOiJIUzI1NiJ9.${mark}.c2lnbmF0dXJl`, mark };
  }
}

/** Text around a secret that does not extend it to a longer word. */
function around(dice: Dice, text: string): string {
  return dice.one([
    text,
    ` ${text} `,
    `${dice.word()} ${text}`,
    `<${text}>`,
    `(${text}), ${dice.word()}`,
    `x: ${text}; y`,
  ]);
}

type Json = string | number | null | boolean | Json[] | { [name: string]: Json };

function document(dice: Dice, planted: string, depth: number): Json {
  const place = dice.below(4);
  const filler = (): Json => dice.one<Json>([dice.word(), dice.below(1000), null, true, [], {}, [dice.word()]]);
  if (depth === 0) return planted;
  const inner = document(dice, planted, depth - 1);
  if (dice.below(2) === 0) return Array.from({ length: 4 }, (_, at) => (at === place ? inner : filler()));
  const names = [dice.word(), '__proto__', 'constructor', 'a', 'b', dice.word()];
  const object: { [name: string]: Json } = {};
  for (let at = 0; at < 4; at++) {
    Object.defineProperty(object, at === place ? 'planted' : (names[at] as string), {
      value: at === place ? inner : filler(),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return object;
}

function written(dice: Dice, value: Json): string {
  return JSON.stringify(value, null, dice.one([0, 1, '\t']));
}

/** The content of a JSON string, with some characters escaped. */
function escaped(dice: Dice, text: string): string {
  return [...text]
    .map((char) => (dice.below(4) === 0 ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char))
    .join('');
}

const kindRule: RuleInput = { kinds: ['email', 'card', 'iban', 'phone', 'ip', 'jwt'] };

function maskerOf(...rules: readonly RuleInput[]): BodyMasker {
  return new BodyMasker(compileRules(rules.map(ruleConfig), 'a key of sixteen'), []);
}

async function masked(masker: BodyMasker, type: string, body: string): Promise<string> {
  return Buffer.from(await masker.mask(type, Buffer.from(body))).toString();
}

function gone(output: string, { text, mark }: Secret, what: string): void {
  assert.ok(!output.includes(text), `${what}: the secret is there (SEED=${seed})`);
  if (mark.startsWith('planted')) assert.ok(!output.includes(mark), `${what}: a part is there (SEED=${seed})`);
}

test('kinds in JSON', async () => {
  const dice = new Dice(seed);
  const masker = maskerOf(kindRule);
  for (let round = 0; round < rounds; round++) {
    const planted = secret(dice, round);
    const text = around(dice, planted.text);
    const value = document(dice, text, dice.below(6));
    const body = written(dice, value).replace(
      JSON.stringify(text),
      `"${escaped(dice, text.replace(/["\\\t]/g, ' '))}"`,
    );
    gone(JSON.stringify(JSON.parse(await masked(masker, 'application/json', body))), planted, 'JSON');
  }
});

test('paths in JSON', async () => {
  const dice = new Dice(seed + 1);
  for (const path of ['$..planted', '$..*', '$', '$..[?@]']) {
    const masker = maskerOf({ json_paths: [path] });
    for (let round = 0; round < rounds / 4; round++) {
      const planted = { text: `planted${round}x${dice.below(1e9)}`, mark: 'planted-' };
      const value = { planted: document(dice, planted.text, dice.below(5)) };
      gone(await masked(masker, 'application/json', written(dice, value as Json)), planted, path);
    }
  }
});

test('kinds in XML, also if CDATA sections, comments and references split them', async () => {
  const dice = new Dice(seed + 2);
  const masker = maskerOf(kindRule);
  const safe = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  for (let round = 0; round < rounds; round++) {
    const planted = secret(dice, round);
    const text = around(dice, planted.text).replace(/[\t]/g, ' ');
    const cut = dice.below(text.length);
    const [left, right] = [text.slice(0, cut), text.slice(cut)];
    const body = dice.one([
      `<a><b>${safe(text)}</b></a>`,
      `<a b="${safe(text)}"/>`,
      `<a><![CDATA[${left}]]>${safe(right)}</a>`,
      `<a>${safe(left)}<!-- ${planted.text.replaceAll('-', ' ')} -->${safe(right)}</a>`,
      `<a>${[...text].map((char) => `&#${char.codePointAt(0)};`).join('')}</a>`,
      `<a><c/>${safe(text)}<c/></a>`,
    ]);
    gone(await masked(masker, 'application/xml', body), planted, 'XML');
  }
});

test('kinds in forms and texts', async () => {
  const dice = new Dice(seed + 3);
  const masker = maskerOf(kindRule);
  for (let round = 0; round < rounds; round++) {
    const planted = secret(dice, round);
    const text = around(dice, planted.text);
    const pairs = [`x=${encodeURIComponent(dice.word())}`, `a=${encodeURIComponent(text).replaceAll('%20', '+')}`, 'y'];
    const form = await masked(
      masker,
      'application/x-www-form-urlencoded',
      pairs.sort(() => dice.below(3) - 1).join('&'),
    );
    gone(decodeURIComponent(form.replaceAll('+', ' ')), planted, 'form');
    gone(await masked(masker, 'text/plain', `${dice.word()}\n${text}\n`), planted, 'text');
    const part = `--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n${text}\r\n--X--\r\n`;
    gone(await masked(masker, 'multipart/form-data; boundary=X', part), planted, 'multipart');
  }
});
