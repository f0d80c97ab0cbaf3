import { cryptAlphabet } from './crypt-text.ts';

/*
 * The traditional crypt(3): 25 times DES (FIPS 46-3) over a block of zeros, keyed by the password, with an expansion that
 * the salt changes. Tables count bits from 1, the highest first, as the standard does.
 */

const initial = [58, 60, 62, 64, 57, 59, 61, 63].flatMap((start) =>
  Array.from({ length: 8 }, (_, at) => start - 8 * at),
);
const final = initial.map((_, at) => initial.indexOf(at + 1) + 1);
const expansion = Array.from({ length: 48 }, (_, at) => ((Math.floor(at / 6) * 4 + (at % 6) + 31) % 32) + 1);
const permuted = [
  16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25,
];
const keyChoice = [
  57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36, 63, 55,
  47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
];
const roundChoice = [
  14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37, 47, 55, 30,
  40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];
const shifts = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];

/** Four rows of sixteen for each box, a hexadecimal digit for each value. */
const boxes = [
  'e4d12fb83a6c5907 0f74e2d1a6cb9538 41e8d62bfc973a50 fc8249175b3ea06d',
  'f18e6b34972dc05a 3d47f28ec01a69b5 0e7ba4d158c6932f d8a13f42b67c05e9',
  'a09e63f51dc7b428 d709346a285ecbf1 d6498f30b12c5ae7 1ad069874fe3b52c',
  '7de3069a1285bc4f d8b56f03472c1ae9 a690cb7df13e5284 3f06a1d8945bc72e',
  '2c417ab6853fd0e9 eb2c47d150fa3986 421bad78f9c5630e b8c71e2d6f09a453',
  'c1af92680d34e75b af427c9561de0b38 9ef528c3704a1db6 432c95fabe17608d',
  '4b2ef08d3c975a61 d0b7491ae35c2f86 14bdc37eaf680592 6bd814a7950fe23c',
  'd2846fb1a93e50c7 1fd8a374c56b0e92 7b419ce206adf358 21e74a8dfc90356b',
].map((rows) => Array.from(rows.replaceAll(' ', ''), (digit) => Number.parseInt(digit, 16)));

/** The thirteen characters for a password. Only its first eight bytes count, and seven bits of each. */
export function desCrypt(password: Uint8Array, salt: string): string {
  const keys = roundKeys(password);
  const salted = saltedExpansion(salt);
  let block: readonly number[] = zeros;
  for (let time = 0; time < 25; time++) block = encrypt(block, keys, salted);
  return salt.slice(0, 2) + textOf(block);
}

type Bits = readonly number[];
const zeros: Bits = Array(64).fill(0);

function pick(bits: Bits, table: readonly number[]): number[] {
  return table.map((from) => bits[from - 1] as number);
}

function roundKeys(password: Uint8Array): readonly Bits[] {
  const bits = Array.from(
    { length: 64 },
    (_, at) => ((password[at >> 3] ?? 0) >> (6 - (at & 7))) & (at % 8 === 7 ? 0 : 1),
  );
  let halves = pick(bits, keyChoice);
  return shifts.map((shift) => {
    halves = [...turned(halves.slice(0, 28), shift), ...turned(halves.slice(28), shift)];
    return pick(halves, roundChoice);
  });
}

function turned(bits: Bits, by: number): Bits {
  return [...bits.slice(by), ...bits.slice(0, by)];
}

/** Each of the twelve bits of the salt swaps two of the expansion, 24 places apart. */
function saltedExpansion(salt: string): readonly number[] {
  const value = cryptAlphabet.indexOf(salt[0] ?? '') | (cryptAlphabet.indexOf(salt[1] ?? '') << 6);
  const swaps = (at: number) => at % 24 < 12 && ((value >> (at % 24)) & 1) === 1;
  return expansion.map((from, at) => (swaps(at) ? (expansion[(at + 24) % 48] as number) : from));
}

function encrypt(block: Bits, keys: readonly Bits[], salted: readonly number[]): Bits {
  const mixed = pick(block, initial);
  let left = mixed.slice(0, 32);
  let right = mixed.slice(32);
  for (const key of keys) {
    const next = pick(substituted(pick(right, salted), key), permuted);
    for (let at = 0; at < 32; at++) next[at] = (next[at] as number) ^ (left[at] as number);
    left = right;
    right = next;
  }
  return pick([...right, ...left], final);
}

function substituted(expanded: Bits, key: Bits): Bits {
  const bits: number[] = [];
  const bit = (at: number): number => (expanded[at] as number) ^ (key[at] as number);
  for (const [number, box] of boxes.entries()) {
    const at = number * 6;
    const row = (bit(at) << 1) | bit(at + 5);
    const column = (bit(at + 1) << 3) | (bit(at + 2) << 2) | (bit(at + 3) << 1) | bit(at + 4);
    const value = box[row * 16 + column] as number;
    bits.push((value >> 3) & 1, (value >> 2) & 1, (value >> 1) & 1, value & 1);
  }
  return bits;
}

/** Eleven characters of six bits, the highest first. */
function textOf(block: Bits): string {
  let text = '';
  for (let at = 0; at < 64; at += 6) {
    let value = 0;
    for (let bit = at; bit < at + 6; bit++) value = value * 2 + (block[bit] ?? 0);
    text += cryptAlphabet[value];
  }
  return text;
}
